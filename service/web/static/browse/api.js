// The API, to be read and tried: Swagger UI over the service's own description.
import {html, render} from "../html.js";
import {key} from "../api.js";
import {applyTheme} from "../theme.js";
import {Top} from "./top.js";

applyTheme();
render(html`<${Top} />`, document.getElementById("app"));
const {SwaggerUIBundle} = globalThis;
SwaggerUIBundle({
  url: "/openapi.json",
  domNode: document.getElementById("api"),
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  // Nothing is asked of other hosts.
  validatorUrl: null,
  requestInterceptor: (request) => {
    if (key()) request.headers.Authorization = `Bearer ${key()}`;
    return request;
  },
});
