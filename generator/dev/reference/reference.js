// The reference page: Swagger UI over the document of this server.

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

window.SwaggerUIBundle({
  url: "/openapi.json",
  domNode: page,
  deepLinking: true,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  // No page can sign: the keys of development never reach the browser.
  supportedSubmitMethods: page.dataset.signed === "true" ? ["get"] : ["get", "post"],
  // A tool answers in JSON only where that is preferred. BCS can be chosen in the page.
  requestInterceptor: (request) => {
    for (const [name, value] of Object.entries(request.headers)) {
      if (name.toLowerCase() === "accept" && value === "*/*") request.headers[name] = "application/json";
    }
    return request;
  },
});

const isDark = matchMedia("(prefers-color-scheme: dark)");
const followScheme = () => document.documentElement.classList.toggle("dark-mode", isDark.matches);
isDark.addEventListener("change", followScheme);
followScheme();
