package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
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
	transport := &mcp.CommandTransport{Command: exec.Command(test.Server.Command, test.Server.Args...)}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, transport, nil)
	must(err)
	defer session.Close()
	list, err := session.ListTools(ctx, nil)
	must(err)
	names := []string{}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	results := map[string]any{}
	for kind, args := range test.Calls {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: test.Name, Arguments: args})
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
