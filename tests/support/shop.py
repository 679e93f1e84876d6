"""A small shop, as text for `write_repository`: a class, a caller, a test and a page with a Chinese comment."""

TOKENS = """\
#- shop/tokens.py
class TokenStore:
    '''Keeps login tokens.'''

    def purge_expired(self, now):
        '''Remove tokens that are older than the timeout.'''
        return [token for token in self.tokens if token.expires < now]
"""
LOGIN = """\
#- shop/login.py
from shop.tokens import TokenStore


def log_out(now):
    store = TokenStore()
    return store.purge_expired(now)
"""
LOGIN_TEST = """\
#- tests/test_login.py
from shop.login import log_out


def test_log_out():
    assert log_out(1) == []
"""
PAGE = """\
#- web/page.js
// 登录超时后显示的页面
export function showTimeout() {
  return render(1);
}
"""
SHOP = TOKENS + LOGIN + LOGIN_TEST + PAGE
