import ast, collections, glob, json, os, re, subprocess, sys
import evaluate
from evaluate import UNKNOWN, Class, External, Function, Member, Object, Raised, Bound

class Tree:
    def __init__(self, repo, rev):
        self.repo, self.rev, self.cache = repo, rev, {}
        self.paths = set(subprocess.run(["git","-C",repo,"ls-tree","-r","--name-only",rev],capture_output=True,text=True,check=True).stdout.splitlines())
        self.p = subprocess.Popen(["git","-C",repo,"cat-file","--batch"],stdin=subprocess.PIPE,stdout=subprocess.PIPE)
    def __call__(self, path):
        if path not in self.paths: return None
        if path not in self.cache:
            self.p.stdin.write(f"{self.rev}:{path}\n".encode()); self.p.stdin.flush()
            head = self.p.stdout.readline().split()
            data = self.p.stdout.read(int(head[2])); self.p.stdout.read(1)
            self.cache[path] = data.decode()
        return self.cache[path]

GPU = {"h100": ("NVIDIA H100", 9), "h200": ("NVIDIA H200", 9), "b200": ("NVIDIA B200", 10), "b300": ("NVIDIA B300", 10),
       "gb200": ("NVIDIA GB200", 10), "gb300": ("NVIDIA GB300", 10)}

def thing(_kind, **fields):
    o = Object(Class(_kind, evaluate.Module("x", False), [External("x")]))
    o.fields.update(fields)
    return o

def hf_object(value):
    """A config.json as transformers has it: the configurations of parts, and types, are objects."""
    o = thing("HFConfig", **{k: hf_object(v) if isinstance(v, dict) and k.endswith("_config") and k!="quantization_config" else v for k, v in value.items()})
    dtype = value.get("torch_dtype", value.get("dtype", UNKNOWN))
    o.fields["torch_dtype"] = External(f"torch.{dtype}") if isinstance(dtype, str) else dtype
    return o
class Hub:
    def __init__(self, folder):
        self.folder = folder
    def config(self, name):
        if not self.folder or not isinstance(name, str): return None
        for p in (name.replace("/","__"),):
            f = os.path.join(self.folder, p, "config.json")
            if os.path.exists(f): return json.load(open(f))
        return None

class Recipes:
    def __init__(self, tree, megatron, hub):
        roots = {"megatron.bridge": (tree, "src/megatron/bridge")}
        if megatron: roots.update({f"megatron.{p}": (megatron, f"megatron/{p}") for p in ("core", "training")})
        self.tree, self.hub = tree, hub
        self.gpu = None; self.asked = []
        self.e = evaluate.Evaluator(roots, self.intrinsic, {"typing.TYPE_CHECKING": False})
        self.bridges = None
    def intrinsic(self, e, function, args, kwargs):
        if isinstance(function, External):
            if function.path == "torch.cuda.is_available": return True
            if function.path == "torch.cuda.get_device_properties":
                if self.gpu not in GPU: return UNKNOWN
                return thing("Device", name=GPU[self.gpu][0], major=GPU[self.gpu][1])
            if function.path == "os.path.join": return "/".join(args) if all(isinstance(a,str) for a in args) else UNKNOWN
            if function.path == "os.getcwd": return "."
            return NotImplemented
        inner = function.function if isinstance(function, Bound) else function
        if isinstance(inner, Function) and inner.owner is not None:
            owner, name = inner.owner.name, inner.node.name
            if owner == "AutoBridge" and name in ("from_hf_pretrained", "from_hf_config", "from_auto_config"):
                hf = args[0] if args else kwargs.get("path", kwargs.get("hf_pretrained", UNKNOWN))
                self.asked.append(hf if isinstance(hf, str) else "")
                o = Object(inner.owner, e.maybe); o.fields["hf"] = hf; o.fields["_hf_config"] = hf
                return o
            if owner == "AutoBridge" and name == "get_model_config":
                return self.provider(function.receiver.fields.get("hf", UNKNOWN), "hf_config_to_model_config")
            if name == "dtype_from_hf":
                dtype = e.attribute(args[-1] if args else kwargs.get("config"), "torch_dtype")
                return dtype
            if owner == "AutoBridge" and name in ("to_megatron_provider",):
                return self.provider(function.receiver.fields.get("hf", UNKNOWN))
        return NotImplemented
    def registered(self):
        if self.bridges is not None: return self.bridges
        self.bridges = {}
        for path in sorted(self.tree.paths):
            if path.startswith("src/megatron/bridge/") and path.endswith(".py") and "register_bridge(" in self.tree(path):
                mod = path[len("src/"):-3].replace("/", ".")
                if "model_bridge" in mod or mod.endswith("auto_bridge"): continue
                for n in ast.parse(self.tree(path)).body:
                    if isinstance(n, ast.ClassDef):
                        for d in n.decorator_list:
                            if isinstance(d, ast.Call) and ast.unparse(d.func).endswith("register_bridge"):
                                kw = {k.arg: k.value for k in d.keywords}
                                src = kw.get("source") or (d.args[0] if d.args else None)
                                name = src.value if isinstance(src, ast.Constant) else ast.unparse(src).split(".")[-1]
                                self.bridges[name] = (mod, n.name, kw.get("provider"))
        return self.bridges
    def provider(self, hf, way="provider_bridge"):
        config = self.hub.config(hf)
        arch = (config or {}).get("architectures", [None])[0]
        found = self.registered().get(arch)
        if not found:
            o = thing("Provider"); o.open = True; return o
        mod, name, provider = found
        m = self.e.module(mod)
        cls = m.names[name]
        me = Object(cls, self.e.maybe)
        if provider is not None:
            me.fields["PROVIDER_CLASS"] = evaluate.Frame(self.e, m, m.names, None).value(provider)
        cfg = hf_object(config)
        me.fields["hf_config"] = cfg
        pre = thing("Pretrained", config=cfg)
        return self.e.call(Bound(cls.find(way)[0], me), [pre if way == "provider_bridge" else cfg], {})
    def functions(self):
        found = {}
        for path in sorted(self.tree.paths):
            m = re.match(r"src/(megatron/bridge/(?:recipes|perf_recipes)/.*)\.py$", path)
            if not m: continue
            mod = m[1].replace("/", ".").removesuffix(".__init__")
            for n in ast.parse(self.tree(path)).body:
                if isinstance(n, ast.FunctionDef) and n.name.endswith("_config") and n.name[0] != "_":
                    found[(mod, n.name)] = n
        return found
    def make(self, mod, name):
        chips = re.findall(r"(?:^|[._])(h100|h200|b200|b300|gb200|gb300|vr200|r100)(?=[._]|$)", mod + "." + name)
        self.gpu = chips[-1] if chips else None
        self.asked.clear(); self.e.steps = 0; self.e.maybe = 0; self.e.depth = 0
        m = self.e.module(mod)
        return self.e.call(m.names[name], [], {})

if __name__ == "__main__":
    B="/work/.mirror/NVIDIA-NeMo+Megatron-Bridge/repo"; M="/work/.mirror/NVIDIA+Megatron-LM/repo"
    rev=sys.argv[1]
    pin=subprocess.run(["git","-C",B,"ls-tree",rev,"3rdparty/Megatron-LM"],capture_output=True,text=True).stdout.split()[2]
    R=Recipes(Tree(B,rev),Tree(M,pin),Hub("/work/shared/corpus/hf"))
    fs=R.functions()
    print(len(fs))
    for (mod,name) in fs:
        if len(sys.argv)>2 and sys.argv[2] not in name: continue
        try: c=R.make(mod,name)
        except Raised as e:
            print(name,"RAISED",e,e.__cause__); continue
        if not isinstance(c,Object): print(name,"->",c); continue
        if len(sys.argv)>2:
            for s in ("model","train","dataset","mixed_precision","comm_overlap","optimizer","ddp"):
                v=c.fields.get(s)
                print(s,v,getattr(v,'open',None)); 
                if isinstance(v,Object): print({k:x for k,x in v.fields.items() if s!='model' or x is UNKNOWN or k in sys.argv[3:]})
