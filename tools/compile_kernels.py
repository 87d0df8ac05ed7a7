"""Compile all kernels ahead of time into one shared library a processor level.

    python tools/compile_kernels.py [--level x86-64-v3] [--into FOLDER] [--only KERNEL ...]

Numba compiles each kernel of `credimi.compile.signatures` for a processor that it is told, not for this one. Its code
is a plain C function: a pointer for the result, one for an exception, then every array as its parts (two pointers that
stay empty here, number and size of the elements, where they lie, shape and strides). The machine's own linker (`cc`)
joins them. What Numba's runtime does for arrays that a kernel makes, `malloc` and `free` do here. The library needs
neither Numba nor Python, so that one wheel serves all versions of Python; `credimi.compile.prebuilt` loads it.

A manifest beside the libraries lists for each kernel and its types the function's name and what it returns, and the
digest of the sources that it was compiled from: other sources make the library void.
"""

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INTO = ROOT / "src" / "credimi" / "compile" / "compiled"
LEVELS = {"x86_64": ("x86-64-v4", "x86-64-v3", "x86-64"), "arm64": ("generic",)}
MACHINES = {"amd64": "x86_64", "x86_64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}
ENDINGS = {"linux": ".so", "darwin": ".dylib", "win32": ".dll"}

LETTERS = {"none": "", "int64": "q", "uint64": "Q", "float64": "d", "bool": "?"}  # of Python's struct, for results

RUNTIME = """
declare i8* @malloc(i64)
declare void @free(i8*)

define i8* @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %wide = zext i32 %align to i64
  %room = add i64 %size, %wide
  %all = add i64 %room, 48
  %base = call i8* @malloc(i64 %all)
  %failed = icmp eq i8* %base, null
  br i1 %failed, label %no, label %yes
no:
  ret i8* null
yes:
  %start = ptrtoint i8* %base to i64
  %behind = add i64 %start, 47
  %above = add i64 %behind, %wide
  %mask = sub i64 0, %wide
  %data = and i64 %above, %mask
  %fields = bitcast i8* %base to i64*
  store i64 1, i64* %fields
  %destructor = getelementptr i64, i64* %fields, i64 1
  store i64 0, i64* %destructor
  %information = getelementptr i64, i64* %fields, i64 2
  store i64 0, i64* %information
  %place = getelementptr i64, i64* %fields, i64 3
  store i64 %data, i64* %place
  %length = getelementptr i64, i64* %fields, i64 4
  store i64 %size, i64* %length
  %allocator = getelementptr i64, i64* %fields, i64 5
  store i64 0, i64* %allocator
  ret i8* %base
}

define i8* @NRT_Allocate(i64 %size) {
  %base = call i8* @malloc(i64 %size)
  ret i8* %base
}

define void @NRT_Free(i8* %base) {
  call void @free(i8* %base)
  ret void
}

define i32 @numba_attempt_nocopy_reshape(i64 %nd, i64* %dims, i64* %strides, i64 %newnd, i64* %newdims,
                                         i64* %newstrides, i64 %itemsize, i32 %fortran) {
entry:
  br label %loop
loop:
  %left = phi i64 [ %newnd, %entry ], [ %next, %body ]
  %stride = phi i64 [ %itemsize, %entry ], [ %larger, %body ]
  %done = icmp sle i64 %left, 0
  br i1 %done, label %end, label %body
body:
  %next = sub i64 %left, 1
  %to = getelementptr i64, i64* %newstrides, i64 %next
  store i64 %stride, i64* %to
  %from = getelementptr i64, i64* %newdims, i64 %next
  %size = load i64, i64* %from
  %larger = mul i64 %stride, %size
  br label %loop
end:
  ret i32 1
}

define void @NRT_MemInfo_call_dtor(i8* %base) {
  call void @free(i8* %base)
  ret void
}
"""  # MemInfo has references, destructor, its argument, data, size, allocator; all arrays reshaped are C-contiguous


def main() -> int:
    """Compile every level in a process of its own, as Numba learns of the processor before it is loaded."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--level", help="compile for this level of the processor only, in this process")
    parser.add_argument("--into", type=Path, default=INTO, help="folder of the libraries (default: in the package)")
    parser.add_argument("--only", nargs="+", metavar="KERNEL", help="these kernels (default: all)")
    arguments = parser.parse_args()
    arguments.into.mkdir(parents=True, exist_ok=True)
    if arguments.level:
        _compile_level(arguments.level, arguments.into, arguments.only)
        return 0
    machine = MACHINES.get(platform.machine().lower())
    if machine is None:
        sys.stderr.write(f"compile_kernels: no level is known for the processor {platform.machine()!r}\n")
        return 2
    started = [
        subprocess.Popen(
            [sys.executable, __file__, "--level", level, *sys.argv[1:]],
            env=os.environ | {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": "", "CREDIMI_KERNELS": "numba"},
        )
        for level in LEVELS[machine]
    ]
    return max(process.wait() for process in started)


def _compile_level(level: str, into: Path, only: list[str] | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = folder  # nothing of another processor may come from the cache, nor go there
        sys.path.insert(0, str(ROOT / "src"))
        entries, code = _emit(level, only)
        object_file = Path(folder, "kernels.o")
        object_file.write_bytes(code)
        library = into / (level + ENDINGS[sys.platform])
        subprocess.run(_link_command(object_file, library), check=True)
    from credimi.compile.prebuilt import sources_digest  # noqa: PLC0415  (found by the path set above)

    manifest = {"sources": sources_digest(), "kernels": entries}
    library.with_suffix(".json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    print(f"compile_kernels: {library} has {sum(map(len, entries.values()))} kernels")


def _link_command(object_file: Path, library: Path) -> list[str]:
    compiler = os.environ.get("CC", "cc")
    if sys.platform == "win32":
        return ["link", "/DLL", "/NOLOGO", f"/OUT:{library}", str(object_file), "msvcrt.lib", "ucrt.lib"]
    flags = ["-dynamiclib"] if sys.platform == "darwin" else ["-shared", "-Wl,--strip-all", "-Wl,--gc-sections"]
    return [compiler, *flags, "-o", str(library), str(object_file), "-lm"]


def _emit(level: str, only: list[str] | None) -> tuple[dict[str, dict[str, list[str]]], bytes]:
    """The manifest of all kernels, and the object code of all of them together."""
    import llvmlite.binding as llvm  # noqa: PLC0415  (after NUMBA_CPU_NAME is set)

    from credimi.compile.signatures import SIGNATURES  # noqa: PLC0415  (found by the path set above)

    whole = llvm.parse_assembly(RUNTIME)
    entries: dict[str, dict[str, list[str]]] = {}
    names = []
    for kernel, signatures in ((name, SIGNATURES[name]) for name in only or SIGNATURES):
        for number, signature in enumerate(signatures):
            name = f"credimi_{kernel.replace('.', '_')}_{number}"
            text, returned = _compile(kernel, signature, name)
            whole.link_in(llvm.parse_assembly(text))
            entries.setdefault(kernel, {})[signature] = [name, returned]
            names.append(name)
    whole.triple = llvm.get_process_triple()
    for part in [*whole.functions, *whole.global_variables]:
        if not part.is_declaration and part.name not in names:
            part.linkage = "internal"
    target = llvm.Target.from_triple(whole.triple)
    machine = target.create_target_machine(cpu=level, opt=3, reloc="pic", codemodel="default")
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0))
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(whole, builder)
    return entries, machine.emit_object(whole)


def _compile(kernel: str, signature: str, name: str) -> tuple[str, str]:
    """The kernel's code for LLVM, with its entry under the name given, and the letters of what it returns."""
    from credimi.compile.numba_jit import numba_types  # noqa: PLC0415  (found by the path that was set)

    module, function = kernel.rsplit(".", 1)
    dispatcher = getattr(importlib.import_module(f"credimi.{module}"), function).dispatcher
    dispatcher.targetoptions |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    types = numba_types(signature)
    dispatcher.compile(types)
    result = dispatcher.overloads[types]
    text = result.library.get_llvm_str().replace(result.fndesc.llvm_func_name, name)
    returned = result.signature.return_type
    parts = [str(part) for part in returned] if hasattr(returned, "count") else [str(returned)]
    return text, "".join(LETTERS[part] for part in parts)


if __name__ == "__main__":
    sys.exit(main())
