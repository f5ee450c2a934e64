import asyncio, json, os
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

test = json.loads(os.environ["MCP_TEST"])


async def main():
    async with Client(stdio_client(StdioServerParameters(**test["server"]))) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        results = {}
        for kind, args in test["calls"].items():
            try:
                results[kind] = (await client.call_tool(test["name"], args)).model_dump(mode="json", by_alias=True)
            except Exception as error:
                results[kind] = {"isError": True, "text": str(error)}
        print("\n" + json.dumps({"names": names, "results": results}))


asyncio.run(main())
