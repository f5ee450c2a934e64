/**
 * An agent of undici 7 or later: `Agent`, `Pool`, `ProxyAgent`, `EnvHttpProxyAgent`, `MockAgent`. Declares only the
 * member that the client uses, because browser projects have no types of undici. In its own file, because index.ts
 * exports it and must compile without DOM and Node types.
 */
export interface Dispatcher {
  dispatch(options: object, handler: object): boolean;
}
