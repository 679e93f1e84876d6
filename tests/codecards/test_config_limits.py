"""Settings come from the environment, and each wrong value is named."""

import pytest

from codecards.config import Settings, settings_from_environment
from codecards.errors import UsageError


def test_without_variables_the_settings_are_the_defaults() -> None:
    assert settings_from_environment({}) == Settings()


def test_every_setting_of_an_index_run_has_a_variable() -> None:
    found = settings_from_environment(
        {
            "CODECARDS_MAX_FILE_BYTES": "1000",
            "CODECARDS_INDEX_SECRETS": "1",
            "CODECARDS_MAX_KEPT_MB": "3",
            "CODECARDS_WORKERS": "2",
            "CODECARDS_FILE_TIME_LIMIT_S": "5",
            "CODECARDS_MEMORY_MB": "1024",
            "CODECARDS_FIRST_ANSWER_WAIT_S": "0.5",
            "CODECARDS_MAX_OPEN_PROJECTS": "7",
        }
    )
    assert (found.build.discovery.max_file_bytes, found.build.discovery.index_secrets) == (1000, True)
    assert found.build.max_kept_bytes == 3 << 20
    assert (found.n_workers, found.worker_time_limit_s, found.memory_mb) == (2, 5, 1024)
    assert (found.first_answer_wait_s, found.max_open_projects) == (0.5, 7)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CODECARDS_MAX_FILE_BYTES", "4 MB"),
        ("CODECARDS_MAX_FILE_BYTES", "0"),
        ("CODECARDS_WORKERS", "-1"),
        ("CODECARDS_MEMORY_MB", "12"),
        ("CODECARDS_FIRST_ANSWER_WAIT_S", "soon"),
        ("CODECARDS_FIRST_ANSWER_WAIT_S", "inf"),
    ],
)
def test_a_wrong_value_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(UsageError, match=name):
        settings_from_environment({name: value})
