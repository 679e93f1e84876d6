"""Secret files are recognised by name, and secrets in shown text are masked."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codecards.indexer.text.secrets import MASK, TokenShape, mask_secrets, token_shapes
from codecards.indexer.walk.secret_names import is_private_key, is_secret_file


@pytest.mark.parametrize(
    "path",
    ".env app/.env.production prod.env .npmrc home/.aws/credentials .aws/config deploy/id_rsa x/ID_ED25519 server.pem site.key"
    " .docker/config.json .netrc infra/prod.tfvars terraform.tfstate client_secret_123.json my-private.asc .kube/config".split(),
)
def test_a_file_is_secret_by_name(path: str) -> None:
    assert is_secret_file(path)


@pytest.mark.parametrize(
    "path",
    ".env.example sample.env .env.local.template app/env.py credentials/store.py src/secrets.py key.py monkey.go id_rsa.py"
    " keys/rsa.go docs/config.json private.go book.asc environment.ts config/aws.py .env.d/readme.md".split(),
)
def test_a_file_with_a_similar_name_is_not_secret(path: str) -> None:
    assert not is_secret_file(path)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"-----BEGIN RSA " + b"PRIVATE KEY-----\nMIIE", True),
        (b"\n-----BEGIN PGP " + b"PRIVATE KEY BLOCK-----\n", True),
        (b"-----BEGIN CERTIFICATE-----\n", False),
        (b"key = '-----BEGIN RSA " + b"PRIVATE KEY-----'", False),
    ],
)
def test_a_private_key_is_recognised_by_its_first_line(data: bytes, expected: bool) -> None:
    assert is_private_key(data) is expected


SHAPES = token_shapes()
TOKENS = ["".join(shape.example) for shape in SHAPES]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_the_example_of_a_row_is_masked_and_matches_no_other_row(shape: TokenShape) -> None:
    example = "".join(shape.example)
    assert mask_secrets(example) == MASK
    matching = [other for other in SHAPES if re.search(rf"(?<![A-Za-z0-9])(?:{other.pattern})", example)]
    assert matching == [shape]
    assert len(shape.example) > 1, "in one piece it looks like a real token to scanners"
    assert shape.link.startswith("https://")


def test_names_of_rows_are_unique() -> None:
    assert len({shape.name for shape in SHAPES}) == len(SHAPES)


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize("frame", ["{}", 'key = "{}"', "see {}.", "X={}\nnext", "curl -H 'Authorization: Bearer {}'"])
def test_a_token_is_masked_by_its_shape_in_any_context(token: str, frame: str) -> None:
    assert mask_secrets(frame.format(token)) == frame.format(MASK)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ('password = "hunter2hunter"', f'password = "{MASK}"'),
        ('{"apiKey": "k3yV4lu3xQ9zT7"}', f'{{"apiKey": "{MASK}"}}'),
        ("'auth_token' => 'q8Zr2LmX0pWv',", f"'auth_token' => '{MASK}',"),
        ("DB_PASSWORD=qa-heron-wigeon", f"DB_PASSWORD={MASK}"),
        ("  password: heron7wigeon!\n", f"  password: {MASK}\n"),
        ("spring.datasource.password=heron7wigeon", f"spring.datasource.password={MASK}"),
        ("ALTER USER bob IDENTIFIED BY 'heron7wigeon';", f"ALTER USER bob IDENTIFIED BY '{MASK}';"),
        ("CREATE ROLE bob PASSWORD 'heron7'", f"CREATE ROLE bob PASSWORD '{MASK}'"),
        ("define( 'DB_PASSWORD', 'heron wigeon7' );", "define( 'DB_PASSWORD', 'heron wigeon7' );"),
        ("define('AUTH_KEY', 'heron7wigeon');", f"define('AUTH_KEY', '{MASK}');"),
        ('"Server=db;Password=heron7;Port=1"', f'"Server=db;Password={MASK};Port=1"'),
        ("export API_KEY=abcdefgh\r\nnext", f"export API_KEY={MASK}\r\nnext"),
        ("postgres://bob:s3cr3t@db/x", f"postgres://bob:{MASK}@db/x"),
        ("//registry.example.org/:_authToken=0123456789abcdef01", f"//registry.example.org/:_authToken={MASK}"),
    ],
)
def test_a_value_is_masked_by_the_name_that_it_is_assigned_to(text: str, masked: str) -> None:
    assert mask_secrets(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        'commit = "d2e7822aa0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5"',
        'password = os.environ["DB_PASSWORD"]',
        'password: "{password}"',
        "token = tokens[position].kind",
        "DB_PASSWORD=change-me",
        "password: string",
        "token = previous_token",
        "self.secret = secret",
        "secret: Secret2",
        "the password 'name' is unknown",
        "DB_PASSWORD=${DB_PASSWORD}",
        "postgres://user:password@localhost/db",
        "def check_password(password: str) -> bool:",
        'token_type = "bearer_token"',
        'publicKeyToken="b77a5c561934e089"',
        "registry_password=container_registry_password,",
        "class SkeletonKeyFactoryBuilder: pass",
        ".sk-fading-circle-animation-delay { }",
    ],
)
def test_code_about_secrets_is_not_masked(text: str) -> None:
    assert mask_secrets(text) == text


def test_a_key_is_masked_line_by_line_even_if_cut_off() -> None:
    head = "-----BEGIN RSA " + "PRIVATE KEY-----"
    body = "MIIEpAIBAAKCAQEA7\nqB1cD2eF3gH4iJ5k=\n"
    whole = f"{head}\n{body}-----END RSA " + "PRIVATE KEY-----\nafter\n"
    assert mask_secrets(whole) == f"{head}\n{MASK}\n{MASK}\n-----END RSA " + "PRIVATE KEY-----\nafter\n"
    assert mask_secrets(f"{head}\n{body}") == f"{head}\n{MASK}\n{MASK}\n"


PARTS = st.sampled_from(
    [*TOKENS, "password", "=", ":", '"', "'", "\n", " ", "a", "7", "://u:", "@h", "_", "-", ".", "TOKEN", MASK]
)


@given(st.lists(PARTS, max_size=25).map("".join))
def test_masking_is_idempotent_and_keeps_lines(text: str) -> None:
    masked = mask_secrets(text)
    assert mask_secrets(masked) == masked
    assert masked.count("\n") == text.count("\n")
