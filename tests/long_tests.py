"""The tests that `make test` leaves to `make test-long`: what is killed, cut off, started on a cluster, mounted as an
image, built twice or by a recipe. `.ci/run` runs them once.

A row is a path below tests/: a directory, a file, or a test as pytest names it, without its parameters.
"""

LONG = (
    # killed, or cut off from power, and other attackers
    "attack",
    "builder/test_proof.py::test_killed_at_any_point",
    "closure/test_in_place_killed.py",
    "devel/test_killed.py",
    "rewriting/test_outputs.py::test_killed",
    # on a cluster: of Slurm, and of simulated nodes
    "cluster",
    "test_ranks.py",
    # images
    "closure/test_containers.py",
    "closure/test_images.py",
    "real_sdk/test_container_recipe.py",
    # built twice, or by a recipe
    "test_recipes.py",
    "test_reproducible.py",
)
