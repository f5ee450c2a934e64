// The reference page: Swagger UI with the OpenAPI document of the current build.

// Swagger UI parses results and prints them again, which would round 64-bit integers. This keeps their digits.
const parse = JSON.parse;
if (JSON.rawJSON !== undefined) {
  const exact = (_name, value, context) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source)
      ? JSON.rawJSON(context.source)
      : value;
  JSON.parse = (text, reviver) => parse(text, reviver ?? exact);
}

const page = document.querySelector("#reference");
/** Server whose tools can be called; empty if it requires signatures, because pages do not have the development keys. */
const { server } = page.dataset;

window.SwaggerUIBundle({
  url: "openapi.json",
  domNode: page,
  deepLinking: true,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  supportedSubmitMethods: server === "" ? [] : ["post"],
  // Requests JSON unless the user selects BCS.
  requestInterceptor: (request) => {
    for (const [name, value] of Object.entries(request.headers)) {
      if (name.toLowerCase() === "accept" && value === "*/*") request.headers[name] = "application/json";
    }
    // Tools reject calls from web pages, so the page's server forwards them.
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
