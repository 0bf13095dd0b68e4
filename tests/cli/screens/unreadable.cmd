moeplan validate broken.yaml broken.json latin1.yaml missing.yaml
