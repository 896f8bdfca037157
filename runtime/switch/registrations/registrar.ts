/** The registrar for phones and gateways. */
import type { ContactBinding, LocationStore } from '../../domain/index.ts';
import {
  headerOf,
  listValues,
  type Log,
  parseAllowEvents,
  parseSipUri,
  type RequestSource,
  sourceOf,
  type SrfRequest,
  type SrfResponse,
} from '../../signalling/index.ts';
import type { Authentication } from './authentication.ts';

/** Seconds of a registration without Expires, and the most that a phone gets. */
const DEFAULT_EXPIRES = 3600;
const MAX_CONTACTS = 10;

interface WantedContact {
  readonly uri: string;
  readonly expires: number;
  /** The device and its connection (RFC 5626 section 4). */
  readonly instance: string | undefined;
  readonly regId: number | undefined;
}

/**
 * The registrar (RFC 3261 section 10.3): digest, several contacts per account, expiry, `*`; edge proxies (Path, RFC 3327);
 * a device that connects again replaces its contact (RFC 5626).
 */
export class Registrar {
  readonly #authentication: Authentication;
  readonly #location: LocationStore;
  readonly #log: Log;

  constructor(authentication: Authentication, location: LocationStore, log: Log) {
    this.#authentication = authentication;
    this.#location = location;
    this.#log = log;
  }

  /** @param via name of the SIP server that the request came to */
  register(req: SrfRequest, res: SrfResponse, via?: string): void {
    const account = this.#authentication.register(req, res);
    if (account === undefined) return;
    const { id, login } = account.kind === 'sipuser' ? account.sipUser : account.provider;
    this.#update(id, req, res, via).catch((err: unknown) => {
      this.#log.error({ err, account: login }, 'registration failed');
      if (!res.finalResponseSent) res.send(500);
    });
  }

  async #update(accountId: string, req: SrfRequest, res: SrfResponse, via: string | undefined): Promise<void> {
    const header = req.get('Contact');
    const callId = req.get('Call-ID') ?? '';
    const cseq = Number.parseInt(req.get('CSeq') ?? '', 10);
    const fallback = seconds(req.get('Expires')) ?? DEFAULT_EXPIRES;
    const existing = this.#location.contacts(accountId);
    if (header?.trim() === '*') {
      if (fallback !== 0) return void res.send(400, 'Contact * needs Expires 0');
      await this.#location.removeAll(accountId);
    } else if (header !== undefined) {
      const wanted = parseContacts(header, fallback);
      if (wanted === undefined) return void res.send(400, 'Contact cannot be read');
      // An older request that overtook a newer one must not undo it (section 10.3, step 7).
      const outdated = wanted.some(({ uri }) =>
        existing.some((known) => known.contact === uri && known.callId === callId && cseq <= known.cseq),
      );
      if (outdated) return void res.send(500, 'Out of Order');
      const gone = replaced(existing, wanted, sourceOf(req));
      const left = existing.filter((known) => !gone.includes(known));
      const total = new Set([...left.map((known) => known.contact), ...wanted.map(({ uri }) => uri)]);
      if (total.size > MAX_CONTACTS) return void res.send(403, 'Too Many Contacts');
      for (const { contact } of gone) await this.#location.remove(accountId, contact);
      await this.#save(accountId, wanted, req, { callId, cseq, server: via });
    }
    const path = pathOf(req);
    const echo = path.length === 0 ? {} : { Path: path.join(', ') };
    const flow = keepsFlow(req, path) ? { Require: 'outbound' } : {};
    const headers = { ...echo, ...flow, Supported: 'path, outbound', ...this.#currentContacts(accountId) };
    res.send(200, { headers });
  }

  async #save(
    accountId: string,
    wanted: readonly WantedContact[],
    req: SrfRequest,
    order: { callId: string; cseq: number; server: string | undefined },
  ): Promise<void> {
    for (const { uri, expires, instance, regId } of wanted) {
      if (expires === 0) {
        await this.#location.remove(accountId, uri);
        continue;
      }
      const binding: ContactBinding = {
        sipUserId: accountId,
        contact: uri,
        ...order,
        source: sourceOf(req),
        expires: Date.now() + expires * 1000,
        userAgent: req.get('User-Agent'),
        allowEvents: parseAllowEvents(headerOf(req, 'Allow-Events')),
        path: pathOf(req),
        instance,
        regId,
      };
      await this.#location.save(binding);
    }
  }

  #currentContacts(accountId: string): Record<string, string> {
    const contacts = this.#location.contacts(accountId);
    if (contacts.length === 0) return {};
    const left = (binding: ContactBinding) => Math.max(1, Math.ceil((binding.expires - Date.now()) / 1000));
    return { Contact: contacts.map((binding) => `<${binding.contact}>;expires=${left(binding)}`).join(', ') };
  }
}

/** Values of Path, the nearest proxy first. */
function pathOf(req: SrfRequest): string[] {
  return listValues(headerOf(req, 'Path') ?? '')
    .map((value) => value.trim())
    .filter((value) => value !== '');
}

/**
 * Whether calls take the connection of the registration (RFC 5626 section 6): the device asked for it, and its edge proxy, if
 * any, keeps it too, as `ob` in Path says.
 */
function keepsFlow(req: SrfRequest, [edge]: readonly string[]): boolean {
  const asked = listValues(headerOf(req, 'Supported') ?? '').some((tag) => tag.trim().toLowerCase() === 'outbound');
  if (!asked || !/;\s*reg-id\s*=/i.test(req.get('Contact') ?? '')) return false;
  return edge === undefined || /;\s*ob\s*(?:[;>=]|$)/i.test(edge);
}

/**
 * The contacts that a registration replaces: those of the same device and connection (RFC 5626 section 6); and, beyond the
 * limit, the oldest of browsers, whose contacts change with every page.
 */
function replaced(
  existing: readonly ContactBinding[],
  wanted: readonly WantedContact[],
  { protocol }: RequestSource,
): readonly ContactBinding[] {
  const uris = new Set(wanted.map(({ uri }) => uri));
  const others = existing.filter(({ contact }) => !uris.has(contact));
  const isBrowser = protocol === 'ws' || protocol === 'wss';
  const same = others.filter((known) =>
    wanted.some(
      ({ instance, regId, expires }) =>
        expires > 0 &&
        instance !== undefined &&
        instance === known.instance &&
        regId === known.regId &&
        (regId !== undefined || isBrowser),
    ),
  );
  const rest = others.filter((known) => !same.includes(known));
  const tooMany = rest.length + wanted.length - MAX_CONTACTS;
  if (tooMany <= 0) return same;
  const ofBrowsers = rest.filter(({ source }) => source.protocol === 'ws' || source.protocol === 'wss');
  return [...same, ...ofBrowsers.slice(-tooMany)];
}

function parseContacts(header: string, fallback: number): WantedContact[] | undefined {
  const wanted: WantedContact[] = [];
  for (const part of listValues(header)) {
    const bracketed = /^[^<]*<([^>]+)>(.*)$/s.exec(part);
    // Without brackets, parameters belong to the header, not to the URI (section 20.10).
    const uri = bracketed?.[1]?.trim() ?? part.split(';')[0]?.trim() ?? '';
    const params = bracketed?.[2] ?? part.slice(part.indexOf(';') === -1 ? part.length : part.indexOf(';'));
    if (parseSipUri(uri) === undefined) return undefined;
    const own = /;\s*expires\s*=\s*"?(\d+)/i.exec(params)?.[1];
    const instance = /;\s*\+sip\.instance\s*=\s*"([^"]*)"/i.exec(params)?.[1];
    const regId = /;\s*reg-id\s*=\s*"?(\d{1,9})/i.exec(params)?.[1];
    wanted.push({
      uri,
      expires: Math.min(seconds(own) ?? fallback, DEFAULT_EXPIRES),
      instance,
      regId: regId === undefined ? undefined : Number(regId),
    });
  }
  return wanted;
}

function seconds(text: string | undefined): number | undefined {
  const value = Number.parseInt(text ?? '', 10);
  return Number.isNaN(value) || value < 0 ? undefined : Math.min(value, DEFAULT_EXPIRES);
}
