// The reference page: Swagger UI over the document of the served build.

// Swagger UI reads results and prints them anew, which would round 64-bit integers. Here those keep their digits.
const parse = JSON.parse;
if (JSON.rawJSON !== undefined) {
  const exact = (_name, value, context) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source)
      ? JSON.rawJSON(context.source)
      : value;
  JSON.parse = (text, reviver) => parse(text, reviver ?? exact);
}

const page = document.querySelector("#reference");
/** The server whose tools may be called; empty when it requires signatures: no page has the keys of development. */
const { server } = page.dataset;

window.SwaggerUIBundle({
  url: "openapi.json",
  domNode: page,
  deepLinking: true,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  supportedSubmitMethods: server === "" ? [] : ["post"],
  // A tool answers in JSON only where that is preferred. BCS can be chosen in the page.
  requestInterceptor: (request) => {
    for (const [name, value] of Object.entries(request.headers)) {
      if (name.toLowerCase() === "accept" && value === "*/*") request.headers[name] = "application/json";
    }
    // Tools refuse the calls of web pages, so the server of this page forwards them.
    if (server !== "" && request.url.startsWith(`${server}/`)) {
      request.userFetch = (url, sent) => fetch(url.replace(server, "tools"), sent);
    }
    return request;
  },
});

const isDark = matchMedia("(prefers-color-scheme: dark)");
const followScheme = () => document.documentElement.classList.toggle("dark-mode", isDark.matches);
isDark.addEventListener("change", followScheme);
followScheme();
