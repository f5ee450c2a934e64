//! Verifies receipts of tool calls with the types and the signature checks of nexus-sdk.
//!
//!     verify-receipt [--leader-key HEX64] [--tool-key HEX64] [--null] FILE...
//!
//! Prints one line for each receipt. Exit code: 0 all are true, 1 one is false, 2 one cannot be decided, because a key was
//! not given or a file cannot be read. docs/receipts.md describes the format.

use {
    base64::{
        engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
        Engine as _,
    },
    nexus_sdk::{
        move_bindings::interface::meta_schema::{PortCommitment, ValueKind},
        signed_http::v3::wire::{
            authenticate_request, sha256, verify_response, LeaderKeyResolver, RequestHeadersRef, ResponseHeadersRef,
        },
        types::OffchainToolOutput,
        ToolFqn,
    },
    serde::{Deserialize, Serialize},
    std::{
        io::Read as _,
        process::exit,
    },
};

const RESOLVED_INPUT: &[u8] = b"nexus.direct.v3.resolved-input";
const MAX_RECEIPT: usize = 12 * 1024 * 1024;
const MAX_RESULT: usize = 262_144;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Receipt {
    receipt: serde_json::Number,
    tool: String,
    time: String,
    header_prefix: String,
    leader: Leader,
    request: Request,
    result: ToolResult,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Leader {
    id: String,
    key_id: String,
    public_key: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    nonce: String,
    input_hash: String,
    signature: String,
    ports: Vec<Port>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolResult {
    bcs: String,
    signature: String,
    public_key: String,
}

/// An absent member is `None`; a member `null` is an error, because the format has none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Port {
    name: String,
    #[serde(default, deserialize_with = "present")]
    one: Option<Committed>,
    #[serde(default, deserialize_with = "present")]
    many: Option<Vec<Committed>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Committed {
    commitment: String,
    #[serde(default, deserialize_with = "present")]
    text: Option<String>,
}

fn present<'de, T: Deserialize<'de>, D: serde::Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

#[derive(Serialize)]
struct PortInput<'a> {
    port_name: &'a [u8],
    commitment: PortCommitment,
}

/// The only leader key of a receipt.
struct OneKey([u8; 32]);

impl LeaderKeyResolver for OneKey {
    fn leader_public_key(&self, _leader_id: &str, _leader_key_id: u64) -> Option<[u8; 32]> {
        Some(self.0)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Verdict {
    True,
    False,
    Undecided,
}

type Judged<T> = Result<T, String>;

fn octets(text: &str) -> Judged<Vec<u8>> {
    STANDARD.decode(text).map_err(|_| "not a receipt: expected base64".to_string())
}

fn fixed<const N: usize>(text: &str) -> Judged<[u8; N]> {
    octets(text)?.try_into().map_err(|_| format!("not a receipt: expected base64 of {N} bytes"))
}

fn key(text: &str) -> Judged<[u8; 32]> {
    let lower = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let bytes = hex::decode(text).ok().filter(|_| lower).and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(|| "not a receipt: expected 64 lower-case hex digits".to_string())
}

fn require(condition: bool, what: &str) -> Judged<()> {
    condition.then_some(()).ok_or_else(|| what.to_string())
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'))
}

fn is_fqn(text: &str) -> bool {
    let shortest = text.split_once('@').is_some_and(|(_, version)| digits(version));
    shortest && text.parse::<ToolFqn>().is_ok()
}

fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let pattern = b"2000-00-00T00:00:00.000Z";
    let shaped = bytes.len() == pattern.len()
        && bytes.iter().zip(pattern).all(|(byte, like)| if *like == b'0' { byte.is_ascii_digit() } else { byte == like });
    if !shaped {
        return false;
    }
    let number = |from: usize, to: usize| text[from..to].parse::<u32>().unwrap_or(u32::MAX);
    let (year, month, day) = (number(0, 4), number(5, 7), number(8, 10));
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(leap),
        _ => 0,
    };
    (1..=days).contains(&day) && number(11, 13) < 24 && number(14, 16) < 60 && number(17, 19) < 60
}

fn is_prefix(text: &str) -> bool {
    text.len() > 1
        && text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.ends_with('-')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Checks the commitments and enclosed texts of a port, and returns what the input hash covers.
fn port_input(port: &Port) -> Judged<PortInput<'_>> {
    let values: Vec<&Committed> = match (&port.one, &port.many) {
        (Some(value), None) => vec![value],
        (None, Some(values)) if (1..=256).contains(&values.len()) => values.iter().collect(),
        _ => return Err("not a receipt: expected one value, or 1 to 256".to_string()),
    };
    require(port.name.is_ascii() && (1..=128).contains(&port.name.len()), "not a receipt: the name of a port")?;
    let mut commitments = Vec::new();
    for value in values {
        commitments.push(fixed::<32>(&value.commitment)?.to_vec());
    }
    let kind = ValueKind::Data;
    let commitment = match &port.many {
        Some(_) => PortCommitment::Many { kind, commitments },
        None => PortCommitment::One { kind, commitment: commitments.remove(0) },
    };
    Ok(PortInput { port_name: port.name.as_bytes(), commitment })
}

fn judge(data: &[u8], leader_key: Option<[u8; 32]>, tool_key: Option<[u8; 32]>) -> Judged<Verdict> {
    require(data.len() <= MAX_RECEIPT, "not a receipt: more than 12 MiB")?;
    let Receipt { receipt, tool, time, header_prefix, leader, request, result } =
        serde_json::from_slice(data).map_err(|_| "not a receipt")?;
    require(receipt.as_u64() == Some(1), "not a receipt: expected version 1")?;
    require(is_fqn(&tool) && is_time(&time) && is_prefix(&header_prefix), "not a receipt: tool, time or prefix")?;
    let visible = !leader.id.is_empty() && leader.id.bytes().all(|byte| (0x21..=0x7e).contains(&byte));
    require(visible && digits(&leader.key_id) && leader.key_id.parse::<u64>().is_ok(), "not a receipt: leader")?;
    let stated_leader_key = key(&leader.public_key)?;
    let stated_tool_key = key(&result.public_key)?;
    let nonce = fixed::<32>(&request.nonce)?;
    let input_hash = fixed::<32>(&request.input_hash)?;
    let leader_signature = fixed::<64>(&request.signature)?;
    let tool_signature = fixed::<64>(&result.signature)?;
    let bcs = octets(&result.bcs)?;
    require(bcs.len() <= MAX_RESULT && request.ports.len() <= 32, "not a receipt: too large")?;
    let inputs = request.ports.iter().map(port_input).collect::<Judged<Vec<_>>>()?;

    let mut preimage = RESOLVED_INPUT.to_vec();
    preimage.extend(bcs::to_bytes(&inputs).map_err(|error| error.to_string())?);
    require(sha256(&preimage) == input_hash, "the input hash is not that of the commitments")?;
    for value in request.ports.iter().flat_map(|port| port.one.iter().chain(port.many.iter().flatten())) {
        let Some(text) = &value.text else { continue };
        let matches = fixed::<32>(&value.commitment)? == sha256(text.as_bytes());
        require(matches, "an enclosed input does not match its commitment")?;
    }

    let url_safe = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let (hash, signature, nonce_text) = (url_safe(&input_hash), url_safe(&leader_signature), url_safe(&nonce));
    let headers = RequestHeadersRef {
        signature_version: Some("3"),
        leader_id: Some(&leader.id),
        leader_key_id: Some(&leader.key_id),
        input_hash: Some(&hash),
        leader_signature: Some(&signature),
        nonce: Some(&nonce_text),
    };
    let authenticated = authenticate_request(headers, &OneKey(stated_leader_key));
    let request = authenticated.map_err(|_| "the leader's signature does not verify")?;

    let output: Option<OffchainToolOutput> = bcs::from_bytes(&bcs).ok();
    require(output.is_some(), "the result is not canonical BCS")?;
    let encoded = url_safe(&tool_signature);
    let headers = ResponseHeadersRef { signature_version: Some("3"), tool_signature: Some(&encoded) };
    verify_response(headers, &request.leader_signature, &request.nonce, &bcs, stated_tool_key)
        .map_err(|_| "the tool's signature does not verify")?;

    require(leader_key.is_none_or(|key| key == stated_leader_key), "the key is not the expected key of the leader")?;
    require(tool_key.is_none_or(|key| key == stated_tool_key), "the key is not the expected key of the tool")?;
    Ok(if leader_key.is_some() && tool_key.is_some() { Verdict::True } else { Verdict::Undecided })
}

fn usage(message: &str) -> ! {
    eprintln!("verify-receipt: {message}");
    exit(2)
}

fn main() {
    let (mut leader_key, mut tool_key, mut null, mut files) = (None, None, false, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut key_of = |name: &str| match key(&arguments.next().unwrap_or_default()) {
            Ok(key) => Some(key),
            Err(_) => usage(&format!("{name} expects 64 lower-case hex digits")),
        };
        match argument.as_str() {
            "--leader-key" => leader_key = key_of("--leader-key"),
            "--tool-key" => tool_key = key_of("--tool-key"),
            "--null" => null = true,
            _ => files.push(argument),
        }
    }
    if files.is_empty() {
        usage("expected files of receipts");
    }
    let mut verdicts = Vec::new();
    for file in files {
        let mut content = Vec::new();
        let read = match file.as_str() {
            "-" => std::io::stdin().read_to_end(&mut content).map(|_| ()),
            _ => std::fs::read(&file).map(|bytes| content = bytes),
        };
        if let Err(error) = read {
            println!("undecided {file}: cannot be read: {error}");
            verdicts.push(Verdict::Undecided);
            continue;
        }
        let parts: Vec<&[u8]> = if null { content.split(|byte| *byte == 0).collect() } else { vec![&content] };
        for data in parts {
            let (verdict, sentence) = match judge(data, leader_key, tool_key) {
                Ok(Verdict::True) => (Verdict::True, "true".to_string()),
                Ok(_) => (Verdict::Undecided, "undecided the signatures verify; give both keys".to_string()),
                Err(sentence) => (Verdict::False, format!("false {sentence}")),
            };
            println!("{} {file}", sentence);
            verdicts.push(verdict);
        }
    }
    exit(if verdicts.contains(&Verdict::False) {
        1
    } else if verdicts.contains(&Verdict::Undecided) {
        2
    } else {
        0
    })
}
