import asyncio, json, os
from fastmcp import Client

test = json.loads(os.environ["MCP_TEST"])


async def main():
    async with Client({"mcpServers": {"s": test["server"]}}) as client:
        names = [tool.name for tool in await client.list_tools()]
        results = {}
        for kind, args in test["calls"].items():
            try:
                result = await client.call_tool(test["name"], args)
                results[kind] = {"structuredContent": result.structured_content}
            except Exception as error:
                results[kind] = {"isError": True, "text": str(error)}
        print("\n" + json.dumps({"names": names, "results": results}))


asyncio.run(main())
