"""The tests whose result depends on the interpreter.

All other tests run once, on the default interpreter alone.

`INTERPRETER` runs whole on the oldest and the newest interpreter, `SMOKE`, a part of it, on those between. A row is a
path below tests/: a directory, a file, or a test as pytest names it, without its parameters.
"""

INTERPRETER = (
    # the binding: arguments, results, errors, warnings, the capsule
    "gpu/test_family_choice.py",
    "gpu/test_gpus.py::test_a_root_that_is_no_path",
    "gpu/test_gpus.py::test_all_that_is_said_of_a_gpu",
    "gpu/test_gpus.py::test_overrides",
    "gpu/test_targets.py",
    "loader/test_dist_info.py",
    "loader/test_dist_info_property.py",
    "loader/test_harmless_messages.py",
    "loader/test_inspect.py",
    "loader/test_nearest_names.py",
    "loader/test_version_wildcard.py",
    "loader/test_warnings.py",
    "test_capsule.py",
    "test_named_tuple.py",
    # the loader, in processes of the interpreter
    "loader/test_concurrency.py",
    "loader/test_fallback.py",
    "loader/test_find.py",
    "loader/test_import.py",
    "loader/test_initialize_process.py",
    "loader/test_installations.py",
    "loader/test_linker_interfaces.py",
    "loader/test_multiprocessing.py",
    "loader/test_overrides.py",
    "loader/test_plan_against_maps.py",
    "loader/test_preload.py",
    "loader/test_preload_for.py",
    "loader/test_root.py",
    "loader/test_sdk.py",
    "loader/test_surroundings.py",
    # of the rest, what the smoke has
    "installation/test_places.py::test_user_prefix_and_target",
    "cli/test_command.py::test_answers_are_one_line_on_stdout",
    "situations/test_children.py",
    "test_hostile_directory.py::test_the_ways_to_start_a_python",
    "devel/test_extraction.py::test_extraction",
    # a proof of root and of an ordinary user in user namespaces, which a bare system in a chroot does not have
    "closure/test_proof_rights.py::test_code_that_lacks_rights",
    "closure/test_proof_rights.py::test_files_that_only_root_may_read",
)

SMOKE = (
    "gpu/test_gpus.py::test_a_root_that_is_no_path",
    "gpu/test_gpus.py::test_all_that_is_said_of_a_gpu",
    "loader/test_concurrency.py::test_fork_waits_for_a_running_load",
    "loader/test_concurrency.py::test_of_two_threads_one_loads_and_both_see_the_libraries",
    "loader/test_find.py::test_errors_can_be_pickled",
    "loader/test_find.py::test_names_must_be_text",
    "loader/test_find.py::test_order_is_as_asked_and_optional_ones_are_skipped",
    "loader/test_import.py",
    "loader/test_initialize_process.py::test_environment_that_fails_is_a_runtime_error_with_its_cause",
    "loader/test_initialize_process.py::test_initialize_process_preloads_and_checks",
    "loader/test_installations.py::test_packages_in_two_directories_of_the_path",
    "loader/test_installations.py::test_sdk_behind_an_import_hook",
    "loader/test_multiprocessing.py",
    "loader/test_preload.py::test_all_cdlls_is_a_dictionary_of_cdlls",
    "loader/test_preload.py::test_plain_dlopen_fails_where_preloading_works",
    "loader/test_surroundings.py::test_options_of_the_interpreter",
    "test_capsule.py::test_it_opens_plans_and_loads",
    "test_named_tuple.py",
    "installation/test_places.py::test_user_prefix_and_target",
    "cli/test_command.py::test_answers_are_one_line_on_stdout",
    "situations/test_children.py",
    "test_hostile_directory.py::test_the_ways_to_start_a_python",
    "devel/test_extraction.py::test_extraction",
)
