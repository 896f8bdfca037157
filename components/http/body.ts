import { Concealer, withinJson } from './concealer.ts';
import type { Reveal } from '../../runtime/runs/index.ts';
import type { Value } from '../../runtime/language/index.ts';

/** Headers and body of a request: values other than texts are sent as JSON. */
export function requestBody(
  headers: Readonly<Record<string, string>>,
  body: Value | undefined,
): { headers: Record<string, string>; body: string | undefined } {
  if (body === undefined || body === null) return { headers: { ...headers }, body: undefined };
  if (typeof body === 'string') return { headers: { ...headers }, body };
  const typed = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
  return {
    headers: { ...headers, ...(typed ? {} : { 'content-type': 'application/json' }) },
    body: JSON.stringify(body),
  };
}

/** The value of a JSON answer; null for other answers. */
export function jsonOf(contentType: string | undefined, body: string): Value {
  if (contentType === undefined || !/[/+]json\b/i.test(contentType)) return null;
  try {
    return JSON.parse(body) as Value;
  } catch {
    // Invalid JSON: the author can still read the text.
    return null;
  }
}

export interface Leaving {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** A request with its secrets, and the concealer that removes them from the answer. */
export function revealed(reveal: Reveal, { url, headers, body }: Leaving): { sent: Leaving; concealer: Concealer } {
  const concealer = new Concealer();
  const put =
    (escape: (value: string) => string) =>
    (value: string, placeholder: string): string => {
      concealer.add(value, placeholder);
      return escape(value);
    };
  const isJson = Object.entries(headers).some(([name, value]) => /^content-type$/i.test(name) && /json/i.test(value));
  const sent = {
    url: reveal(url, put(encodeURIComponent)),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, reveal(value, put(String))])),
    body: body === undefined ? undefined : reveal(body, put(isJson ? withinJson : String)),
  };
  return { sent, concealer };
}
