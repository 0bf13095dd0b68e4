moeplan validate --format json broken.yaml
moeplan validate --format jsonl broken.json missing.yaml
moeplan validate --format github broken.yaml
