"""Secrets are taken out, and nothing else (DE-35)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rejoinder.outbound.redact import REDACTED, SHAPES, redact

# Made up, and put together here, so that no scanner takes this file for a leak.
MIXED = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6kL9nO2qR5tU8w"
BODY = f"{MIXED}AAAA\n{MIXED}BBBB\nshort=="

SECRETS = [
    ("OpenAI, Anthropic and others", "sk-" + MIXED[:48], "{}"),
    ("OpenAI, Anthropic and others", "sk-proj-" + MIXED[:20] + "-" + MIXED[20:], "key {}, keep it"),
    ("OpenAI, Anthropic and others", "sk-ant-api03-" + MIXED, "`{}`"),
    ("OpenAI, Anthropic and others", "sk-or-v1-" + "0a1b2c3d" * 8, "**{}**"),
    ("GitHub", "ghp_" + MIXED[:36], "{}."),
    ("GitHub", "ghs_" + MIXED[:36], "({})"),
    ("GitHub", "github_pat_" + MIXED[:22] + "_" + MIXED, "{}"),
    ("GitLab", "glpat-" + MIXED[:20], "{}"),
    ("Slack", "xoxb-" + "123456789012-" + MIXED[:24], "{}"),
    ("Slack", "xapp-1-A0123-456-" + MIXED[:20], "{}"),
    ("AWS", "AKIA" + "IOSFODNN7EXAMPLE", "id {} here"),
    ("Google", "AIza" + MIXED[:35], "?key={}&x=1"),
    ("Stripe", "sk_live_" + MIXED[:24], "{}"),
    ("Hugging Face, npm, PyPI", "hf_" + MIXED[:34], "{}"),
    ("Hugging Face, npm, PyPI", "npm_" + MIXED[:36], "{}"),
    ("Groq, xAI, Replicate", "gsk_" + MIXED[:48], "{}"),
    ("Groq, xAI, Replicate", "xai-" + MIXED + MIXED[:20], "XAI={}"),
    ("Groq, xAI, Replicate", "r8_" + MIXED[:37], "{}"),
    ("SendGrid", "SG." + MIXED[:22] + "." + MIXED[:43], "key {}"),
    ("DigitalOcean", "dop_v1_" + "0a1b2c3d" * 8, "{}"),
    ("Telegram", "123456789:" + "AA" + MIXED[:33], "https://api.telegram.org/bot{}/getMe"),
    ("Discord", "MTIz" + MIXED[:20] + "." + "GaBcDe" + "." + MIXED[:30], "{}"),
    ("Matrix", "syt_" + "Ym90_" + "abcdefghijklmnopqrst" + "_0aB1cD", "{}"),
    ("JSON Web Token", "eyJ" + MIXED[:20] + ".eyJ" + MIXED[:30] + "." + MIXED[:40], "{}"),
    ("webhook address", "T0123ABCD/B0123ABCD/" + MIXED[:24], "https://hooks.slack.com/services/{}"),
    ("authorization", MIXED[:40], "Authorization: Bearer {}"),
    ("authorization", "dXNlcjpwYXNzd29yZDEyMzQ1Ng==", "authorization: basic {}"),
    ("credentials in an address", "s3cr:et!", "postgres://app:{}@db.example.org/x"),
    ("credentials in an address", "hunter2", "redis://:{}@localhost:6379"),
    ("named key", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "AWS_SECRET_ACCESS_KEY={}"),
    ("named key", MIXED[:32], '"api_key": "{}"'),
    ("named key", MIXED[:32], "--api-key={}"),
    ("named password", "hunter2!", "DB_PASSWORD={}"),
    ("named password", MIXED[:16], "token = '{}'"),
    ("private key", f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n-----END RSA PRIVATE KEY-----", "a\n{}\nb"),
    ("private key", f"-----BEGIN PRIVATE KEY-----\\n{MIXED}\\n-----END PRIVATE KEY-----\\n", '{{"key": "{}"}}'),
    ("private key", f"-----BEGIN OPENSSH PRIVATE KEY-----\n{BODY}", "cut off:\n{}"),
]


@pytest.mark.parametrize(("name", "secret", "around"), SECRETS)
def test_secrets_go_and_what_is_around_them_stays(name: str, secret: str, around: str) -> None:
    """DE-35: known shapes of tokens."""
    shown = redact(around.format(secret))
    assert shown.replace("\\n", "") == around.format(REDACTED).replace("\\n", "")


def test_every_shape_has_an_example() -> None:
    assert {name for name, _, _ in SECRETS} == {shape.name for shape in SHAPES}


PROSE = [
    "PWD=/home/user1/projects",
    "OLDPWD=~/work2/x",
    "The bearer of bad news",
    "a bearer instrument of internationalisation",
    "Bearer tokens are sent in the Authorization header.",
    "Use `Authorization: Bearer <token>` or Bearer $TOKEN.",
    "Basic understanding of thermodynamics",
    "sk-learn is scikit-learn; sk-something-or-other-quite-long-name",
    "sk-... and sk-YOUR-KEY-HERE",
    "ghp_ is the prefix, xoxb- too: xoxb-your-bot-token-here",
    "AKIA is a prefix; AKIAIOSFODNN7EXAMPLETOOLONG is none",
    "the secret: be kind",
    "Secret = something you do not say",
    "password: required, at least 8 characters",
    "password=yourpassword1",
    "max_tokens=4096 and token: 17",
    "api_key=$OPENAI_API_KEY, api_key = os.environ['API_KEY_2']",
    'api_key: "<your key>"',
    "tokenizer=cl100k_base",
    "postgres://user:password@localhost/db and https://user:<pass>@e.org",
    "https://e.org:8080/@someone and mailto:me@e.org",
    "at 12:30 we met, 12345678:30",
    "commit 3f2a9c1b7d8e4f5a6b7c8d9e0f1a2b3c4d5e6f70",
    "550e8400-e29b-41d4-a716-446655440000",
    "It begins with -----BEGIN PRIVATE KEY----- and then comes the key, in Base64.",
    "-----BEGIN PUBLIC KEY-----\nMFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAK\n-----END PUBLIC KEY-----",
    "<https://hooks.slack.com/services/...>",
    "eyJ is how a JWT begins: eyJhbGciOiJIUzI1NiJ9",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
]


@pytest.mark.parametrize("text", PROSE)
def test_prose_is_not_touched(text: str) -> None:
    """DE-35: no false hits on prose."""
    assert redact(text) == text


@given(st.text(st.characters(exclude_characters="0123456789", exclude_categories=("Nd", "Cs"))))
def test_text_without_digits_has_no_secrets(text: str) -> None:
    """DE-35: whatever people write in words."""
    assert redact(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "a" * 200_000,
        "sk-" * 70_000,
        "eyJ" * 70_000,
        "eyJaaaaaaaaaaaa." * 12_000,
        "-----BEGIN PRIVATE KEY-----\n" * 8_000,
        "-----BEGIN PRIVATE KEY-----\n" + "aB3" * 70_000,
        "a://b:" * 35_000,
        "api_key=" * 25_000,
        "secret" * 35_000,
        "12345678:" * 22_000,
        "bearer " * 30_000,
        "M" * 24 + "." + "a-" * 90_000,
    ],
)
def test_a_long_text_ends(text: str) -> None:
    """No text makes it a stall: the run would not end here if it did."""
    assert len(redact(text)) <= len(text)
