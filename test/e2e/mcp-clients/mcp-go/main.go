package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

func main() {
	var test struct {
		Server struct {
			Command string
			Args    []string
		}
		Name  string
		Calls map[string]map[string]any
	}
	must(json.Unmarshal([]byte(os.Getenv("MCP_TEST")), &test))
	ctx := context.Background()
	c, err := client.NewStdioMCPClient(test.Server.Command, nil, test.Server.Args...)
	must(err)
	defer c.Close()
	start := mcp.InitializeRequest{}
	start.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	start.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	_, err = c.Initialize(ctx, start)
	must(err)
	list, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	must(err)
	names := []string{}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	results := map[string]any{}
	for kind, args := range test.Calls {
		call := mcp.CallToolRequest{}
		call.Params.Name, call.Params.Arguments = test.Name, args
		result, err := c.CallTool(ctx, call)
		if err != nil {
			results[kind] = map[string]any{"isError": true, "text": err.Error()}
		} else {
			results[kind] = result
		}
	}
	line, err := json.Marshal(map[string]any{"names": names, "results": results})
	must(err)
	fmt.Printf("\n%s\n", line)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
