"""Recognises files that probably contain keys or passwords, by name or first line; by default they are not indexed."""

import re

_NAMES = frozenset(
    # Configuration files in which tools store passwords and tokens
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
_SUFFIXES = tuple(
    """
    .pem .key .p12 .pfx .p8 .pkcs12 .jks .jceks .keystore .kdbx .kdb .ppk .ovpn .tfvars .tfstate .tfstate.backup
    .kubeconfig .env
    """.split()
)
_PATHS = tuple(
    """
    .docker/config.json .kube/config .aws/config .config/gh/hosts.yml .config/hub .cargo/credentials .gem/credentials
    .bundle/config .ssh/config .ssh/authorized_keys
    """.split()
)
_SHAPES = re.compile(
    r"\.env\..+|(client_secret|service[-_]account).*\.json|(\w+[-_.])?(private|secret).*\.(asc|gpg|pgp)"
)
_PLACEHOLDER = r"(example|sample|template|dist|defaults?|schema|tpl|tmpl)"
_HARMLESS = re.compile(rf"{_PLACEHOLDER}\.env|.*[._-]{_PLACEHOLDER}(\.env)?")
"""A template to fill in: ".env.example", "sample.env"."""
_PRIVATE_KEY = re.compile(
    rb"\s*(-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----|PuTTY-User-Key-File-\d|AGE-SECRET-KEY-1)"
)


def is_secret_file(path: str) -> bool:
    """Return whether the name of a file suggests secrets; the path is relative to the root, with slashes."""
    name = path.rpartition("/")[2].lower()
    if name in _NAMES or name.endswith(_SUFFIXES) or _SHAPES.fullmatch(name):
        return not _HARMLESS.fullmatch(name)
    return path.lower().endswith(_PATHS)


def is_private_key(data: bytes) -> bool:
    """Return whether the bytes start like a private key."""
    return _PRIVATE_KEY.match(data, 0, 4096) is not None
