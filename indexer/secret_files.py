"""Secret files: names that promise keys or passwords; such files are not read unless the user says so."""

from pathspec import GitIgnoreSpec

PATTERNS = """
.env
.env.*
*.env
!.env.example
!.env.sample
!.env.template
!.env.dist
!.env.defaults
!example.env
!sample.env
.envrc
*.pem
*.key
*.p12
*.pfx
*.jks
*.keystore
*.kdbx
*.ppk
*.asc
id_rsa
id_dsa
id_ecdsa
id_ed25519
.netrc
_netrc
.pgpass
.my.cnf
.htpasswd
.npmrc
.pypirc
.git-credentials
.dockercfg
.docker/config.json
.aws/credentials
.aws/config
.kube/config
.ssh/
credentials.json
credentials.yml
credentials.yaml
credentials.ini
credentials.toml
credentials
client_secret*.json
service-account*.json
service_account*.json
secrets.json
secrets.yml
secrets.yaml
secrets.toml
secrets.ini
*.tfvars
*.tfstate
*.tfstate.backup
.vault-token
"""
_spec = GitIgnoreSpec.from_lines(PATTERNS.split())
_hints = ("env", "pem", "key", "p12", "pfx", "jks", "kdbx", "ppk", "asc", "id_", "rc", "pass", "cnf", "cred", "docker", "aws",
          "kube", "ssh", "secret", "service", "tf", "vault")  # fmt: skip


def is_secret_file(path: str) -> bool:
    """Return whether a file of this path (from the root, with slashes) holds secrets by its name."""
    folded = path.lower()
    return any(hint in folded for hint in _hints) and _spec.match_file(folded)
