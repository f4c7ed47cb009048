"""A study finds the effect that it says it finds in 80 % of studies in 70 to 90 % of them."""

from __future__ import annotations

import pytest

from tests.coverage.power import MEASURED, SCENARIOS, acquiescence, lean, share_found


@pytest.mark.e2e
def test_twenty_questions_find_the_change_that_they_state_and_five_say_that_they_find_less() -> (
    None
):
    _, stated = share_found("stated change", lambda rng: acquiescence(rng, 20, 0.1), 150)
    found, _ = share_found("at the stated change", lambda rng: acquiescence(rng, 20, stated), 500)
    assert 0.7 < found < 0.9
    _, of_five = share_found("five", lambda rng: acquiescence(rng, 5, 0.1), 60)
    assert of_five > 2 * stated


@pytest.mark.e2e
@pytest.mark.parametrize("scenario", SCENARIOS[3:], ids=lambda scenario: scenario.name)
def test_the_table_of_power_is_as_measured(scenario: object) -> None:
    (named,) = [one for one in SCENARIOS if one is scenario]
    found, _ = share_found(named.name, named.study, 200)
    assert found == pytest.approx(MEASURED[named.name], abs=0.11), (
        "three Monte Carlo errors of 200 studies"
    )


@pytest.mark.slow
def test_forty_statements_find_the_bias_that_they_state() -> None:
    found, _ = share_found("at the stated bias", lambda rng: lean(rng, 10, 0.26), 150)
    assert 0.66 < found < 0.94
