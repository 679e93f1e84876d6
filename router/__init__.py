"""Turns to contexts: keeps the working memory of an agent and assembles what its model sees.

Rules and defaults that come from the following four articles cite them by the short names in quotes.

- "Separation of duties": Agentic Coding 场景下基于职责分离的上下文管理思路分享
- "Sliding window": AI编码代理上下文工程: 从滑动窗口到MCP的实践
- "Context Mode": Context Mode: 编码代理上下文管理范式详解
- "Context engineering": 上下文工程: Agent 表现不稳的根源与系统化实战方法
"""
