words="tensor|pipeline|expert|fp8|bf16|dispatcher|recompute|strategy|_size|# n"
for to in megatron bridge automodel plan; do echo "# to $to"; moeplan convert qwen3-235b.yaml --to $to | grep -E "$words"; done 2>&1
echo "# Megatron's flags back into a plan"
moeplan convert qwen3-235b.yaml --to megatron | moeplan convert - --as megatron --gpus 256 --platform h100 --to plan | grep -E "^(gpus|tp|pp|vpp|ep|etp|mbs|gbs|seq|fp8|recompute|moe_token)"
echo "# an unknown framework, a missing one, no recipe"
moeplan convert qwen3-235b.yaml --to nemo
moeplan convert qwen3-235b.yaml
echo hello | moeplan convert - --to plan
