"""What `make test` leaves to `make test-all`: tests that take seconds, most of them because they compile a game.

Patterns of test ids, as `fnmatch` reads them. Every law has a shorter neighbour that every run has: fewer random games,
a smaller board, another page. One that matches nothing is an error (tests/conftest.py), so this list stays true.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

LONG = [
    # Everything compiled and searched once; tests/test_health.py has six of these searches.
    "tests/golden/test_signature.py::test_signature_is_the_stored_number*",
    # Pages with their code; README.md and docs/tutorial.md are in every run.
    "tests/test_docs.py::test_pictures_say_what_the_code_draws",
    "tests/test_docs.py::test_blocks_run_in_order[[]docs/games/*",
    "tests/test_docs.py::test_blocks_run_in_order[[]docs/[a-su-z]*",
    "tests/test_examples.py::test_example_0[2-9]*",
    # More random games than sixty (two of the first five chunks have paths of a thousand steps), second instances.
    "tests/parity/test_random_games.py::test_random_games[[]range([1-9][0-9][0-9], *",
    "tests/parity/test_random_games.py::test_random_games[[]range([48]0, *",
    "tests/laws/test_backup.py::test_refresh_is_idempotent[[]1[0-9][0-9]]",
    "tests/laws/test_staleness.py::test_ancestors_leave_nothing_stale[[][12][0-9][0-9]]",
    "tests/laws/test_staleness.py::test_cycles_are_refreshed_once_around[[]4-2-*",
    "tests/laws/test_yatzy_dice.py::test_spread_draws_vary_less_than_independent_ones[[][345]-*",
    "tests/test_check.py::test_built_in_games_keep_the_laws[[]long-*",
    "tests/test_go.py::test_lines_of_play_on_4_by_4",
    "tests/test_save.py::test_a_loaded_root_goes_on_as_if_it_had_never_been_saved[[]goofspiel1]",
    "tests/test_save.py::test_a_loaded_root_goes_on_as_if_it_had_never_been_saved[[]n_in_a_row1]",
    "tests/test_save.py::test_a_loaded_root_goes_on_as_if_it_had_never_been_saved[[]pyrat2]",
    "tests/test_save.py::test_a_loaded_root_goes_on_as_if_it_had_never_been_saved[[]go[01]]",
    "tests/test_save.py::test_a_loaded_root_goes_on_as_if_it_had_never_been_saved[[]2048]",
    "tests/test_searcher.py::test_rollouts_shared_among_threads_fail_as_those_of_one[[][!s]*",
    "tests/test_searcher.py::test_rollouts_shared_among_threads_fail_as_those_of_one[[]same]",
    "tests/test_unchecked.py::test_the_alternatives_to_transpose_with_axes_compile",
    "tests/parity/test_moments.py::test_random_games[[]*",
    "tests/laws/test_proofs.py::test_what_is_certain_is_true[[]range([1-9]*",
    "tests/parity/test_engine_equals_reference.py::test_built_in_games[[]*-go*",
    "tests/parity/test_engine_equals_reference.py::test_built_in_games[[]* []]",
    "tests/parity/test_engine_equals_reference.py::test_states_kept_as_differences*",
    "tests/golden/test_open_spiel*.py::*",
    "tests/test_go.py::test_random_play_equals*",
    # Deep or many.
    "tests/test_oracle.py::test_published_optima",
    "tests/test_exact.py::test_games_a_hundred_thousand_steps_deep",
    "tests/test_exact.py::test_solver_equals_recursion*",
    "tests/test_exact.py::test_renaming_choices_renames_best_play*",
    "tests/test_three_players.py::*_from_a_thousand_positions",
    "tests/laws/test_graph.py::test_games_twenty_thousand_states_deep*",
    "tests/laws/test_graph.py::test_exact_values_of_games_a_hundred_thousand_states_deep",
    "tests/laws/test_convergence.py::test_values_converge*",
    "tests/laws/test_convergence.py::test_pyrat_is_solved*",
    "tests/laws/test_chance.py::test_chance_value_is_unbiased*",
    "tests/laws/test_chance.py::test_redrawing_until_a_stored_outcome_comes_up_is_biased",
    "tests/laws/test_staleness.py::test_a_wave_whose_evaluator_fails_never_was*",
    "tests/test_evaluators.py::test_rollouts_win_tic_tac_toe_as_often_as_counting_says",
    # Training in processes of their own, and runs killed at every step; two of the steps are in every run.
    "tests/test_processes.py::test_a_*",
    "tests/test_muzero_runs.py::test_other_processes_play_the_same_games",
    "tests/test_processes.py::test_rules_that_fail*",
    "tests/test_cluster.py::test_a*[!d]",
    "tests/test_run_folder.py::test_nothing_acknowledged_is_lost_or_doubled_by_a_kill[[][!s]*",
    "tests/test_training.py::test_games_with_dice_and_at_once_train_too*",
    "tests/test_own_games.py::test_a_file_of_rules*",
    "tests/test_demo.py::test_the_demo_trains*",
    "tests/test_frozen_set.py::test_othello_is_scored*",
    "tests/test_frozen_set.py::test_the_stored_positions*",
    "tests/test_training.py::test_ctrl_c_saves_and_says_how_to_go_on",
    # Processes of their own that import torch, and commands.
    "tests/test_identity.py::test_code_that_was_edited_is_other_code[[]a *",
    "tests/cli/test_interrupt.py::test_ctrl_c_ends_a_command[[]analyze connect_four --simulations*",
    "tests/cli/test_interrupt.py::test_ctrl_c_ends_a_command[[]analyze goofspiel*",
    "tests/cli/test_interrupt.py::test_ctrl_c_ends_a_command[[]bench --signature*",
    "tests/test_interrupts.py::test_compiling_survives_an_interrupt_at_any_moment[[]alarms*",
    "tests/test_writers.py::test_a_system_that_allows_no_larger_files_is_told_as_such",
    "tests/cli/test_analyze.py::test_it_finds_what_the_library_finds*",
    "tests/cli/test_match_command.py::test_an_interrupted_match_is_saved_and_the_printed_line_goes_on*",
    "tests/cli/test_match_command.py::test_three_agents_at_a_table_of_three",
    "tests/cli/test_output.py::test_output_that_is_full_is_an_error*",
    "tests/hard/test_fuzz.py::test_what_is_parsed_is_accepted_or_refused*",
]


def pattern_of(test: str) -> str | None:
    """Return the pattern that says a test is long, if one does."""
    return next((pattern for pattern in LONG if fnmatchcase(test, pattern)), None)
