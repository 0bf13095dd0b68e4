moeplan validate hf_config.json model.yaml other.yaml; echo $?
moeplan validate '*.nothing'; echo $?
moeplan validate --format jsonl 'o*.yaml' other.yaml
