moeplan --nope; echo $?
moeplan validte; echo $?
moeplan validate; echo $?
moeplan validate --gpu 8 other.yaml; echo $?
moeplan validate --gpus eight other.yaml; echo $?
moeplan validate --gpus=0 other.yaml; echo $?
moeplan validate --format xml other.yaml; echo $?
moeplan validate --framework nemo other.yaml; echo $?
moeplan validate --framework-version 9.9 other.yaml; echo $?
moeplan validate --as toml other.yaml; echo $?
moeplan validate --set tp other.yaml; echo $?
moeplan validate --platform h1000 other.yaml; echo $?
moeplan validate --gpus
