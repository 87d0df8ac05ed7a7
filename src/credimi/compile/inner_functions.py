"""Functions that only kernels call: translated to LLVM code, but neither optimised as a whole nor made machine code.

Numba does all of this for each function, and again when a caller links it in. Here only the kernel that Python calls is
optimised, together with all functions that it calls, which halves the compile time. Such a function cannot be called
from Python.

`InnerCompiler` replaces one pass of Numba's compiler, and `_InnerLibrary` two steps that the pass takes with its
library. If Numba renames these steps, its own are used, and only time is lost. The first optimisation of each function
alone stays as in Numba: without it sums are not vectorised once they are inside of a larger function.
"""

from typing import Any

from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, _LowerResult
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering


class _InnerLibrary(JITCodeLibrary):
    """LLVM code that will be linked into a kernel."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class InnerLowering(NativeLowering):
    """Translate a function into LLVM code, and let other functions know it by a name that cannot be called."""

    _name = "credimi_inner_lowering"

    def run_pass(self, state: Any) -> bool:
        """Translate one function."""
        context = state.targetctx
        state.library = _InnerLibrary(context.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        name, described = lowered.fndesc.qualname, lowered.fndesc
        function = _dynfunc.make_function(described.lookup_module(), name, "", 0, lowered.env, (state.library,))
        context.insert_user_function(function, described, [state.library])
        state["cr"] = _LowerResult(described, lowered.call_helper, cfunc=function, env=lowered.env)
        return True


class InnerCompiler(CompilerBase):
    """Numba's compiler with another last pass."""

    def define_pipelines(self) -> list[PassManager]:
        """The passes that a function goes through."""
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [(InnerLowering if each is NativeLowering else each, why) for each, why in manager.passes]
        manager.finalize()
        return [manager]
