/** Events of the event socket, and their formats. */

/** The headers of an event, in sending order; an array is a multi-valued variable. */
export type EventHeaders = Record<string, string | readonly string[]>;

/** An event of the server: what `event plain|json` subscribers get. */
export interface EslEvent {
  /** `CHANNEL_EXECUTE`, `CUSTOM`, ... */
  readonly name: string;
  /** Subclass of CUSTOM events, such as `conference::maintenance`. */
  readonly subclass: string | undefined;
  readonly headers: EventHeaders;
  readonly body: string | undefined;
}

/**
 * Builds the headers of an event.
 *
 * @param names the only headers that anybody needs: others may be left out; undefined for all
 */
export type BuildHeaders = (names?: readonly string[]) => EventHeaders;

/** An event that is built when a client takes it, and only as far as its clients take it. */
export class EventDraft {
  readonly name: string;
  readonly subclass: string | undefined;
  readonly #body: string | undefined;
  readonly #build: BuildHeaders;
  #whole: EslEvent | undefined;

  constructor(name: string, subclass: string | undefined, body: string | undefined, build: BuildHeaders) {
    this.name = name;
    this.subclass = subclass;
    this.#body = body;
    this.#build = build;
  }

  /** @param names headers that the event has at least; undefined for all */
  event(names?: readonly string[]): EslEvent {
    return names !== undefined && this.#whole === undefined ? this.#built(names) : (this.#whole ??= this.#built());
  }

  #built(names?: readonly string[]): EslEvent {
    return { name: this.name, subclass: this.subclass, headers: this.#build(names), body: this.#body };
  }
}

/** The event with these headers alone, in the order given. */
export function briefly(event: EslEvent, names: readonly string[]): EslEvent {
  const headers: EventHeaders = {};
  for (const name of names) {
    const value = event.headers[name];
    if (value !== undefined) headers[name] = value;
  }
  return { ...event, headers };
}

const UNSAFE = /[\s"#%&+:;<=>?@[\\\]^`{|}]|[^\x20-\x7e]/gu;

/** Percent-encodes a header value of the plain format as FreeSWITCH does: RFC 3986 reserved but `/`, `,`, `'`, `-`. */
export function encodeValue(value: string): string {
  return value.replace(UNSAFE, (character) => {
    const bytes = Buffer.from(character, 'utf8');
    let encoded = '';
    for (const byte of bytes) encoded += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    return encoded;
  });
}

/** Header lines of the plain format, each ended by LF. A multi-valued variable is written as `ARRAY::a|:b`. */
export function plainHeaders(headers: EventHeaders): string {
  let text = '';
  for (const [name, value] of Object.entries(headers)) {
    text += `${name}: ${encodeValue(typeof value === 'string' ? value : `ARRAY::${value.join('|:')}`)}\n`;
  }
  return text;
}

/** The complete frame of an event for a subscriber. */
export function eventFrame(event: EslEvent, format: 'plain' | 'json'): string {
  const body = event.body ?? '';
  const length = Buffer.byteLength(body);
  let payload: string;
  if (format === 'json') {
    payload = JSON.stringify(
      length === 0 ? event.headers : { ...event.headers, 'Content-Length': String(length), _body: body },
    );
  } else {
    payload = length === 0 ? `${plainHeaders(event.headers)}\n` : plainHeaders(event.headers);
    if (length > 0) payload += `Content-Length: ${length}\n\n${body}`;
  }
  return `Content-Length: ${Buffer.byteLength(payload)}\nContent-Type: text/event-${format}\n\n${payload}`;
}
