import asyncio, json, os
from langchain_mcp_adapters.client import MultiServerMCPClient

test = json.loads(os.environ["MCP_TEST"])


async def main():
    tools = await MultiServerMCPClient({"s": {"transport": "stdio", **test["server"]}}).get_tools()
    [tool] = tools
    results = {}
    for kind, args in test["calls"].items():
        try:
            message = await tool.ainvoke({"type": "tool_call", "id": "1", "name": tool.name, "args": args})
            failed = message.status == "error"
            artifact = message.artifact or {}
            results[kind] = {"isError": failed, "text": str(message.content), "structuredContent": artifact.get("structured_content")}
        except Exception as error:
            results[kind] = {"isError": True, "text": str(error)}
    print("\n" + json.dumps({"names": [tool.name for tool in tools], "results": results}))


asyncio.run(main())
