import type { DomainName } from '../../domain-name/index.ts';

/** HTTP for scenarios; the implementation decides which hosts are allowed. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Time limit of the whole exchange, redirects included. */
  readonly timeoutMs: number;
  /** Largest body of the response, in bytes. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Domain of the request: allowed hosts may differ by domain. */
  readonly domain: DomainName;
}

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface HttpPort {
  /**
   * @throws ScenarioError codes `http_forbidden` (host, address or scheme not allowed), `http_timeout`,
   * `http_too_large`, `http_failed`
   */
  request(request: HttpRequest): Promise<HttpResponse>;
  /**
   * Checks if `request` may use this URL, before its name is resolved. Without it, every URL is allowed.
   * @throws ScenarioError code `http_forbidden`
   */
  check?(url: string): void;
}
