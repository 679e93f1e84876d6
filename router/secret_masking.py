"""Secrets: keys and passwords are masked before anything is written to a note or a session."""

import re

MASK = "[masked secret]"
_PATTERNS = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    r"\b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{30,}\b|\bgithub_pat_\w{30,}\b|\bglpat-[\w-]{18,}",
    r"\b(?:sk|pk|rk)[-_](?:live|test|proj|ant)[-_][\w-]{16,}|\bsk-[A-Za-z0-9]{32,}\b",
    r"\bxox[abprs]-[\w-]{10,}|\bAIza[\w-]{35}\b|\bhf_[A-Za-z0-9]{30,}\b|\bnpm_[A-Za-z0-9]{36}\b",
    r"\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}",
    r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)",
)
_secret = re.compile("|".join(_PATTERNS))
_assigned = re.compile(
    r"(?i)(?P<name>\b[\w.-]*(?:password|passwd|secret|api[_-]?key|access[_-]?token|auth[_-]?token|private[_-]?key)\b[\"']?\s*(?:=|:|is)\s*)"
    r"(?P<value>\"[^\"\s]{6,}\"|'[^'\s]{6,}'|[^\s\"',;()]*(?:\d[^\s\"',;()]*){2,})"
)


def mask_secrets(text: str) -> str:
    """Return the text with what looks like a key, a token or an assigned password replaced by `MASK`."""
    masked = _secret.sub(MASK, text)
    return _assigned.sub(lambda match: match["name"] + MASK if len(match["value"]) >= 8 else match.group(), masked)
