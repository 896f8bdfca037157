/** Reads events of the media server in time that grows with their size, not with its square. */
import esl, { type EslEvent, type EslHeaders, type EslParser } from 'drachtio-modesl';

/** Of messages in the formats that this node never asks for. */
const { _parseEvent: parseByLibrary } = esl.Parser.prototype;
const OTHER_FORMATS: readonly unknown[] = ['text/event-plain', 'text/event-xml'];

/**
 * Replaces what drachtio-modesl does for each message. It looks at all earlier headers for each header, of which an event has up to
 * 250, decodes every value, and throws at octets that are not UTF-8, such as those in a phone's session description.
 */
export function readEventsQuickly(): void {
  Object.assign(esl.Parser.prototype, {
    _indexOfHeaderEnd(this: EslParser): number {
      return this.buffer.indexOf('\n\n');
    },
    _parseHeaderText: readHeaders,
    _parseEvent(this: EslParser, headers: EslHeaders, body?: string): void {
      const type = headers['Content-Type'];
      if (OTHER_FORMATS.includes(type)) return parseByLibrary.call(this, headers, body);
      if (type !== 'text/event-json') {
        this.emit('esl::event', eventOf(headers, body), headers, body);
        return;
      }
      let fields: EslHeaders;
      try {
        fields = withLength(JSON.parse(body ?? '') as EslHeaders);
      } catch (error) {
        this.emit('error', error);
        return;
      }
      this.emit('esl::event', eventOf(fields, fields['_body']), headers, body);
    },
  });
}

function eventOf(fields: EslHeaders, body: string | number | undefined): EslEvent {
  const headers = Object.keys(fields).flatMap((name) =>
    name === '_body' ? [] : [{ name, value: fields[name] ?? '' }],
  );
  const reply = fields['Reply-Text'];
  // The library's own name of the rest of a reply.
  if (typeof reply === 'string') {
    if (reply.startsWith('-ERR')) headers.push({ name: 'Modesl-Reply-ERR', value: reply.slice(5) });
    else if (reply.startsWith('+OK')) headers.push({ name: 'Modesl-Reply-OK', value: reply.slice(4) });
  }
  const { 'Event-Name': type, 'Event-Subclass': subclass } = fields;
  return Object.assign(new esl.Event(), { headers, type, subclass, body: body ?? '' });
}

function readHeaders(head: string): EslHeaders {
  const headers: EslHeaders = {};
  for (const line of head.split('\n')) {
    const colon = line.indexOf(': ');
    const name = colon === -1 ? line : line.slice(0, colon);
    headers[name] = colon === -1 ? '' : decoded(line.slice(colon + 2));
  }
  return withLength(headers);
}

function withLength(headers: EslHeaders): EslHeaders {
  const length = headers['Content-Length'];
  if (length !== undefined) headers['Content-Length'] = Number.parseInt(String(length), 10);
  return headers;
}

/** The value as it came where its octets are not UTF-8. */
function decoded(value: string): string {
  if (!value.includes('%')) return value;
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
