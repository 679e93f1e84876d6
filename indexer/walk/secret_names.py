"""Secret files: names and first lines that promise keys or passwords; they are not indexed unless the user says so."""

import re

_NAMES = frozenset(
    # Settings that tools keep their passwords and tokens in
    """
    .env .envrc .netrc _netrc .authinfo .authinfo.gpg .pgpass .my.cnf .mylogin.cnf .htpasswd .npmrc .yarnrc.yml .pypirc
    .git-credentials .dockercfg .dockerconfigjson .s3cfg .boto .databrickscfg .terraformrc terraform.rc .vault-token
    .vault_pass .vault-pass .vault_password .passwd-s3fs kubeconfig master.key secring.gpg
    id_rsa id_dsa id_ecdsa id_ecdsa_sk id_ed25519 id_ed25519_sk
    credentials credentials.json credentials.yml credentials.yaml credentials.ini credentials.toml credentials.csv
    application_default_credentials.json client_secret.json client_secrets.json
    secrets.json secrets.yml secrets.yaml secrets.toml secrets.ini secrets.env
    """.split()
)
_SUFFIXES = (
    ".pem", ".key", ".p12", ".pfx", ".p8", ".pkcs12", ".jks", ".jceks", ".keystore", ".kdbx", ".kdb", ".ppk", ".ovpn",
    ".tfvars", ".tfstate", ".tfstate.backup", ".kubeconfig", ".env",
)  # fmt: skip
_PATHS = (
    ".docker/config.json", ".kube/config", ".aws/config", ".config/gh/hosts.yml", ".config/hub", ".cargo/credentials",
    ".gem/credentials", ".bundle/config", ".ssh/config", ".ssh/authorized_keys",
)  # fmt: skip
_SHAPES = re.compile(
    r"\.env\..+|(client_secret|service[-_]account).*\.json|(\w+[-_.])?(private|secret).*\.(asc|gpg|pgp)"
)
_PLACEHOLDER = r"(example|sample|template|dist|defaults?|schema|tpl|tmpl)"
_HARMLESS = re.compile(rf"{_PLACEHOLDER}\.env|.*[._-]{_PLACEHOLDER}(\.env)?")
"""A file to copy and fill in: ".env.example", "sample.env"."""
_PRIVATE_KEY = re.compile(
    rb"\s*(-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----|PuTTY-User-Key-File-\d|AGE-SECRET-KEY-1)"
)


def is_secret_file(path: str) -> bool:
    """Return whether a file of this path (from the root, with slashes) holds secrets by its name."""
    name = path.rpartition("/")[2].lower()
    if name in _NAMES or name.endswith(_SUFFIXES) or _SHAPES.fullmatch(name):
        return not _HARMLESS.fullmatch(name)
    return path.lower().endswith(_PATHS)


def is_private_key(data: bytes) -> bool:
    """Return whether the bytes start like a private key, whatever the file is called."""
    return _PRIVATE_KEY.match(data, 0, 4096) is not None
