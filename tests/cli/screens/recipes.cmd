cd ../../../../examples/recipes
moeplan validate .; echo $?
moeplan validate --fail-on warning automodel/qwen3_30b_a3b_suppressed.yaml; echo $?
moeplan validate 'm*/**/*.sh' bridge; echo $?
moeplan validate --format github automodel; echo $?
sed '/moeplan: ignore/d' automodel/qwen3_30b_a3b_suppressed.yaml | moeplan validate --gpus 8 -; echo $?
sed 's/pp_schedule: .*/pp_schedule: 1f1b/; s/pp_size: 1/pp_size: 2/' automodel/qwen3_30b_a3b_suppressed.yaml | moeplan validate --gpus 16 -; echo $?
moeplan validate --gpus 256 --set TP=2 --set PP=1 megatron/launch.sh; echo $?
moeplan validate --set nothing=1 megatron/launch.sh
