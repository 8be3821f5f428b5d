"""Faults that public reports told, and that the tests of their situations must notice."""

from __future__ import annotations

from mutation import Mutation

_LINKER = ("tests/field/test_linker_is_judge.py",)
_COUNTING = ("tests/field/test_counting_gpus.py",)
_HANGING = ("tests/field/test_hanging.py",)
_LEFT = ("tests/field/test_left_variables.py",)
_PROFILERS = ("tests/field/test_profilers.py",)
_INDEXES = ("tests/field/test_incomplete_indexes.py",)
_CMAKE = ("tests/field/test_cmake_packages.py",)
_TREES = ("tests/field/test_trees_lack_files.py",)
_SCOPE = ("tests/field/test_global_scope.py",)
_ORIGINS = ("tests/field/test_fixes_by_origin.py",)
_FOREIGN = ("tests/field/test_foreign_builds.py",)
_REFUSALS = ("tests/field/test_explained_refusals.py",)
_PREFIXES = ("tests/field/test_prefixes.py",)
_COMPILERS = ("tests/field/test_compilers.py",)
_DOCUMENT = ("tests/field/test_established_document.py",)
_LOADER = ("tests/builder/test_own_loader.py",)
_ARCHIVES = ("tests/field/test_lost_archives.py",)
_NETWORK = ("tests/field/test_without_network.py",)

# fmt: off
FIELD = (
    # what other code has made global
    Mutation("csrc/loader/guard.c", "guard->nodes[index].binds_deep = true;\n    return add_first", "return add_first", _SCOPE),
    Mutation("csrc/loader/guard.c", "    if (guard->nodes[index].binds_deep) {", "    if (false) {", _SCOPE),
    Mutation("csrc/loader/global_scope.c", "return RSDK_DEEP_SANITIZER;", "return RSDK_DEEP_NO_OBSTACLE;", _SCOPE),
    Mutation("csrc/loader/global_scope.c", "strcmp(definer, libc) != 0", "false", _SCOPE),
    Mutation("csrc/loader/global_scope.c", "definer != NULL && !is_cxx_runtime(definer)", "definer != NULL && is_cxx_runtime(definer)", _SCOPE),
    Mutation("rocm_sdk/doctor/subjects/process.py", "has_loader and shortname not in wishes and", "has_loader and", _SCOPE),
    # what brought a file
    Mutation("csrc/loader/origin.c", "if (is_tool(library) && strcmp(library->real, file->real) != 0) {", "if (is_tool(library) && file->soname == NULL) {", _PROFILERS),
    Mutation("csrc/loader/conflicts.c", "origin->kind == RSDK_ORIGIN_PROFILER ? ", "origin->kind == RSDK_ORIGIN_PRELOADED ? ", _PROFILERS),
    Mutation("rocm_sdk/doctor/subjects/process.py", "name in self._needs[False] and name not in self._needs[True]", "name in self._needs[False]", _PROFILERS),
    # who waits, and for what
    Mutation("rocm_sdk/doctor/hanging.py", "or _look(pid, thread) != found:", "or False:", _HANGING),
    Mutation("rocm_sdk/doctor/waiting.py", 'if function is not None and not _is_system(path):\n            return', 'if function is not None:\n            return', _HANGING),
    Mutation("rocm_sdk/doctor/waiting.py", 'if function is not None and function.startswith("__libc_start_main"):', "if False:", _HANGING),
    Mutation("rocm_sdk/doctor/gpu_driver.py", "or not any(map(_asks_driver, files))", "", _HANGING),
    Mutation("csrc/programs/parts/awaited_device.c", "if (!is_device(path) || access(path, F_OK) == 0) {", "if (true) {", _HANGING),
    # what a parent leaves
    Mutation("rocm_sdk/installed/inherited.py", 'entry not in environment.split(b"\\0")', "True", _LEFT),
    Mutation("rocm_sdk/installed/inherited.py", "if row.is_of_profilers:", "if True:", _LEFT),
    Mutation("rocm_sdk/installed/inherited.py", 'if "/" in each and not _is_of_sdk', "if not _is_of_sdk", _LEFT),
    Mutation("rocm_sdk/installed/inherited.py", 'any(line.endswith(b" " + real) for line in', 'all(True for line in', _LEFT),
    # which GPUs count
    Mutation("rocm_sdk/fit/counting.py", "gpu.gpu_class == _INTEGRATED and not has_code(gpu)", "not has_code(gpu)", _COUNTING),
    Mutation("rocm_sdk/doctor/subjects/gpus.py", 'comgr_knows(found.facts.get("target", "")) is not True', "True", _COUNTING),
    Mutation("rocm_sdk/fit/code_problems.py", "not (compiles and _compiles_for(on_gpu[0].gpu))", "not compiles", _COUNTING),
    Mutation("rocm_sdk/fit/known_faults.py", "for name in (gpu.real_processor, gpu.processor)", "for name in (gpu.processor,)", _COUNTING),
    Mutation("rocm_sdk/cli/overview.py", "there is no GPU to run on; no library was looked at", "libraries load; there is no GPU to run on", ("tests/field/test_overview.py",)),
    Mutation("csrc/binding/link_trial.c", "rsdk_load_chain_attach(&made->chain, above);", "rsdk_load_chain_attach(&made->chain, NULL);", _LINKER),
    Mutation("csrc/binding/link_trial.c", "RSDK_TRY(follow_all(result, result->members.items[i], error));", "RSDK_TRY(i == 0 ? follow_all(result, result->members.items[i], error) : RSDK_OK);", ("test_host_check",)),
    Mutation("csrc/binding/link_trial.c", "root->file.is_program ? none", "false ? none", _LINKER),
    Mutation("csrc/binding/link_trial.c", "RSDK_TRY(add_name(&trial->names, o->file.soname, arena, place, error));", "", _LINKER),
    Mutation("csrc/binding/host_check.c", "c->search.is_passed_over = rsdk_host_objects_is_passed_over;", "c->search.is_passed_over = NULL;", _LINKER),
    Mutation("csrc/binding/host_check.c", "compare(&file->aided[i], &best) == 0", "true", _LINKER),
    Mutation("csrc/binding/host_symbols.c", "if (has_versions && trial->is_whole) {", "if (false) {", _LINKER),
    Mutation("csrc/loader/dependency_graph.c", "RSDK_TRY(find_noted(graph, from, edge, &is_noted, error));", "", _LINKER),
    Mutation("csrc/loader/plan.c", "plan->search.is_passed_over = rsdk_graph_is_passed_over;", "", _LINKER),
    Mutation("csrc/loader/linker_search.c", "RSDK_TRY(add_places_in_site(search, &(*path)->list, error));", "", ("test_host_check",)),
    # where packages come from, and which compiler is blamed
    Mutation("rocm_sdk/installed/wheel_directory.py", " if each[1] == _canonical(version)}", "}", _ORIGINS),
    Mutation("rocm_sdk/problems/problem.py", "        elif packages:\n", "        elif False:\n", _ORIGINS),
    Mutation("csrc/diagnosis/index_choice.c", "label != NULL ? label + sizeof of_rocm - 1 : exact + 2", "exact + 2", _ORIGINS),
    Mutation("rocm_sdk/doctor/subjects/devel.py", "if _NO_BITCODE in error:", "if False:", _COMPILERS),
    Mutation("rocm_sdk/doctor/subjects/devel.py", "(not refused[2] and _is_of_compiler(ended))", "False", _COMPILERS),
    Mutation("rocm_sdk/fit/cuda_builds.py", '"hip" in said or "+rocm" in version or', '"hip" in said or', _FOREIGN),
    Mutation("rocm_sdk/fit/verdicts/judge.py", "if each.code not in _OF_MISSING)]", ")]", _FOREIGN),
    Mutation("rocm_sdk/index/explaining.py", "if elsewhere := _for_others(name, index):", "if elsewhere := '':", _REFUSALS),
    Mutation("rocm_sdk/index/explaining.py", "    for pattern in _LACKS_TO_BUILD:", "    for pattern in ():", _REFUSALS),
    Mutation("rocm_sdk/installed/prefix_versions.py", 'of_tools = match[1].lower() == "rocm"', "of_tools = False", _PREFIXES),
    Mutation("rocm_sdk/doctor/subjects/prefix.py", "        return bool(rows_of(name))", "        return True", _PREFIXES),
    # what nobody listed
    Mutation("builder/rocm_sdk_build/output/extras.py", "any(not wanted or wanted <= set", "any(True or wanted <= set", _INDEXES),
    Mutation("builder/rocm_sdk_build/output/extras.py", 'or any("+" in each.version for each in requirement.specifier)', "or False", _INDEXES),
    Mutation("builder/rocm_sdk_build/output/extras.py", "if file.project not in chosen:", "if False:", _INDEXES),
    Mutation("builder/rocm_sdk_build/output/clash.py", "if all(map(_is_complete, groups)):", "if True:", _INDEXES),
    Mutation("builder/rocm_sdk_build/checking/comparison.py", "if lost and sha256_of", "if False and sha256_of", _INDEXES),
    Mutation("rocm_sdk/devel/absent.py", "if path not in known | listed and not", "if False and not", _TREES),
    Mutation("rocm_sdk/devel/absent.py", "listed |= links_listed(site, name)", "pass", _TREES),
    Mutation("rocm_sdk/devel/link_file.py", "(_is_copy(found, wanted) and not self._can_link(source))", "_is_copy(found, wanted)", _TREES),
    Mutation("builder/rocm_sdk_build/checking/development_tree.py", "return Tree(number, first, sorted(absent), unmet)", "return Tree(number, first, [], unmet)", _TREES),
    Mutation("builder/rocm_sdk_build/checking/development_tree.py", "return Tree(number, first, sorted(absent), unmet)", "return Tree(number, first, sorted(absent), [])", _CMAKE),
    Mutation("rocm_sdk/devel/cmake/packages.py", "elif need.name not in reader.targets:", "elif False:", _CMAKE),
    Mutation("rocm_sdk/devel/cmake/reading.py", "if truth is False:", "if False:", _CMAKE),
    Mutation("rocm_sdk/devel/cmake/reading.py", 'is_certain=is_certain and "REQUIRED" in words', "is_certain=is_certain", _CMAKE),
    Mutation("rocm_sdk/doctor/prefixes/cmake.py", "if (is_whole if each.is_path else gone.isdisjoint(texts_of(each.name)))", "if True", _CMAKE),
    Mutation("builder/rocm_sdk_build/building/debian.py", "    while names:", "    while False:", ("tests/builder/test_suites.py",)),
    Mutation("builder/rocm_sdk_build/checking/installability.py", "if absent := unlisted(self._directory, files):", "if absent := []:", _TREES),
    Mutation("builder/rocm_sdk_build/output/kernel_archives.py", "if named and not any(", "if named and all(", ("tests/field/test_archives_nobody_has.py",)),
    Mutation("builder/rocm_sdk_build/building/wheel_maker.py", "if not wish.only:", "if False:", ("tests/field/test_archives_nobody_has.py",)),
    # the established document, with our commands
    Mutation("builder/rocm_sdk_build/output/own_loader.py", "or not has_digest(str(path), file.digest)", "", _LOADER),
    Mutation("builder/rocm_sdk_build/building/wheel_maker.py", "loader_for(wish, dist, scratch) if plan.selectors() else wish.loader", "wish.loader", _DOCUMENT),
    Mutation("builder/rocm_sdk_build/building/wheel_maker.py", "if plan.selectors() else wish.loader", "if True else wish.loader", _DOCUMENT),
    Mutation("builder/rocm_sdk_build/output/trial_installation.py", 'return f"{wheel.name}: {found[1]}" if wheel is not None else found[1]', "return found[0]", _DOCUMENT),
    Mutation("builder/rocm_sdk_build/commands/check.py", '.split("\\n"):', '.split("\\0"):', _DOCUMENT),
    # what is printed without an answer of the index
    Mutation("rocm_sdk/cli/install.py", "if not options.print or options.format not in (None, *UNPINNED):", "if True:", _NETWORK),
    # archives that a package never had
    Mutation("rocm_sdk/fit/code_problems.py", "is_absent and not may_lack_archive(", "is_absent or not may_lack_archive(", _ARCHIVES),
    # where a package came from, and which release a tree is
    Mutation("rocm_sdk/installed/wheel_directory.py", 'how.get("editable") is True', "False", _ORIGINS),
    Mutation("rocm_sdk/installed/prefix_versions.py", "if version := _version_of_packages(prefix):", "if version := None:", _PREFIXES),
)
# fmt: on
