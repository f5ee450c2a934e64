/**
 * An agent of the package undici, version 7 or later: `Agent`, `Pool`, `ProxyAgent`, `EnvHttpProxyAgent`, `MockAgent`. The
 * type has only the member that the client uses, because a page has no types of undici.
 */
export interface Dispatcher {
  dispatch(options: object, handler: object): boolean;
}
