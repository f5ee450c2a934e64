use rmcp::{model::CallToolRequestParams, transport::TokioChildProcess, ServiceExt};
use serde_json::{json, Map, Value};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let test: Value = serde_json::from_str(&std::env::var("MCP_TEST")?)?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut command = tokio::process::Command::new(text(&test["server"]["command"]));
    for word in test["server"]["args"].as_array().unwrap() {
        command.arg(text(word));
    }
    let client = ().serve(TokioChildProcess::new(command)?).await?;
    let names: Vec<_> = client.list_all_tools().await?.into_iter().map(|tool| tool.name).collect();
    let mut results = Map::new();
    for (kind, args) in test["calls"].as_object().unwrap() {
        let call = CallToolRequestParams::new(text(&test["name"])).with_arguments(args.as_object().unwrap().clone());
        let result = match client.call_tool(call).await {
            Ok(result) => serde_json::to_value(result)?,
            Err(error) => json!({ "isError": true, "text": error.to_string() }),
        };
        results.insert(kind.clone(), result);
    }
    println!("\n{}", json!({ "names": names, "results": results }));
    client.cancel().await?;
    Ok(())
}
