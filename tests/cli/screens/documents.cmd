moeplan validate documents.yaml; echo $?
moeplan validate --format jsonl documents.yaml
