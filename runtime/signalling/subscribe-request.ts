/** Reads a SUBSCRIBE (RFC 6665 section 8.2). */
import { headerOf } from './header-of.ts';
import { listValues } from './list-values.ts';
import { parseSipUri } from './sip-uri.ts';
import type { SrfRequest } from './srf-types.ts';

/** What a SUBSCRIBE asks for. */
export interface SubscribeRequest {
  /** The event package, lower case. */
  readonly event: string;
  /** The parameter `id` of Event; empty without one. */
  readonly eventId: string;
  /** Seconds; undefined: the package's own. */
  readonly expires: number | undefined;
  /** Accepted types of bodies, lower case; empty: the package's own. */
  readonly accept: readonly string[];
  readonly callId: string;
  readonly cseq: number;
  /** From and To as they came. */
  readonly from: string;
  readonly to: string;
  readonly fromTag: string;
  /** Empty: the request begins a dialog. */
  readonly toTag: string;
  /** The remote target. */
  readonly contact: string;
  /** URIs of Record-Route, first hop first. */
  readonly routes: readonly string[];
}

export interface SubscribeRefusal {
  readonly status: number;
  readonly reason?: string;
}

/** Octets of a body that nobody reads. */
const MAX_BODY = 4096;
/** No longer subscription is possible: 2**32-1 seconds (RFC 3261 section 20.19). */
const MAX_EXPIRES = 4_294_967_295;

/** @returns the refusal of a malformed request: 400, 413, and 489 without Event */
export function readSubscribe(
  req: Pick<SrfRequest, 'get' | 'body'>,
): SubscribeRequest | { readonly refusal: SubscribeRefusal } {
  if (Buffer.byteLength(req.body) > MAX_BODY) return { refusal: { status: 413 } };
  const [, event = '', params = ''] = /^\s*([^\s;,]{1,64})\s*((?:;.*)?)$/.exec(headerOf(req, 'Event') ?? '') ?? [];
  if (event === '') return { refusal: { status: 489 } };
  const expires = readExpires(req.get('Expires'));
  if (expires === 'bad') return { refusal: { status: 400, reason: 'Expires cannot be read' } };
  const contact = uriOf(req.get('Contact'));
  if (contact === undefined) return { refusal: { status: 400, reason: 'Contact cannot be read' } };
  const from = req.get('From') ?? '';
  const to = req.get('To') ?? '';
  const fromTag = tagOf(from);
  if (fromTag === '') return { refusal: { status: 400, reason: 'From has no tag' } };
  return {
    event: event.toLowerCase(),
    eventId: /;\s*id\s*=\s*([^\s;]{1,128})/i.exec(params)?.[1] ?? '',
    expires,
    accept: typesOf(req.get('Accept')),
    callId: req.get('Call-ID') ?? '',
    cseq: Number.parseInt(req.get('CSeq') ?? '0', 10),
    from,
    to,
    fromTag,
    toTag: tagOf(to),
    contact,
    routes: listValues(req.get('Record-Route') ?? '').flatMap((each) => uriOf(each) ?? []),
  };
}

/** Seconds of an Expires header; undefined without one; `bad` when it is no number of seconds. */
export function readExpires(header: string | undefined): number | undefined | 'bad' {
  if (header === undefined) return undefined;
  const text = header.trim();
  return /^\d{1,15}$/.test(text) ? Math.min(Number(text), MAX_EXPIRES) : 'bad';
}

/** The tag of a From or To; empty without one. */
export function tagOf(address: string): string {
  return /;\s*tag\s*=\s*([^\s;,>]+)\s*(?:;[^>]*)?$/i.exec(address)?.[1] ?? '';
}

function uriOf(header: string | undefined): string | undefined {
  const [first = ''] = listValues(header ?? '');
  const uri = /<([^>]*)>/.exec(first)?.[1]?.trim() ?? first.split(';')[0]?.trim() ?? '';
  return uri.length <= 512 && parseSipUri(uri) !== undefined ? uri : undefined;
}

/** Media types of an Accept header, lower case, without parameters. */
function typesOf(header: string | undefined): readonly string[] {
  if (header === undefined) return [];
  return header
    .split(',')
    .map((each) => (each.split(';')[0] ?? '').trim().toLowerCase())
    .filter((type) => type !== '');
}
