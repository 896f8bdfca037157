/** Presence documents (PIDF, RFC 3863, with activities of RFC 4480). */
import { xml } from './dialog-info.ts';

export const PIDF = 'application/pidf+xml';

/** What a phone says of its user. */
export interface PresenceState {
  readonly open: boolean;
  /** Free text; empty without one. */
  readonly note: string;
  /** Names of RFC 4480 section 3.2. */
  readonly activities: readonly string[];
}

/** Activities that are passed on. */
const ACTIVITIES = new Set(
  (
    'appointment away breakfast busy dinner holiday in-transit looking-for-work lunch meal meeting on-the-phone performance ' +
    'permanent-absence playing presentation shopping sleeping spectator steering travel tv unknown vacation working worship'
  ).split(' '),
);
const MAX_NOTE = 256;

/**
 * Reads the state out of a published document, whose further content is not passed on.
 * @returns undefined without a basic status
 */
export function readPidf(text: string): PresenceState | undefined {
  if (!/<(?:\w+:)?presence[\s>]/.test(text)) return undefined;
  const basic = /<(?:\w+:)?basic\s*>\s*(open|closed)\s*<\/(?:\w+:)?basic\s*>/i.exec(text)?.[1]?.toLowerCase();
  if (basic === undefined) return undefined;
  const note = /<(?:\w+:)?note(?:\s[^>]*)?>([^<]*)<\/(?:\w+:)?note\s*>/.exec(text)?.[1] ?? '';
  const inside = /<(?:\w+:)?activities(?:\s[^>]*)?>([^]*?)<\/(?:\w+:)?activities\s*>/.exec(text)?.[1] ?? '';
  const named = [...inside.matchAll(/<(?:\w+:)?([a-z-]+)\s*\/?>/g)].map(([, name = '']) => name);
  const activities = [...new Set(named)].filter((name) => ACTIVITIES.has(name));
  return { open: basic === 'open', note: unescaped(note).trim().slice(0, MAX_NOTE), activities };
}

/**
 * The document of a sipuser.
 * @param entity its URI
 * @param states one a publication; never empty
 */
export function pidf(entity: string, states: readonly PresenceState[]): string {
  const activities = [...new Set(states.flatMap((state) => state.activities))];
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<presence xmlns="urn:ietf:params:xml:ns:pidf" xmlns:dm="urn:ietf:params:xml:ns:pidf:data-model" xmlns:rpid="urn:ietf:params:xml:ns:pidf:rpid" entity="${xml(entity)}">`,
    ...states.flatMap(({ open, note }, at) => [
      `<tuple id="t${at + 1}"><status><basic>${open ? 'open' : 'closed'}</basic></status>`,
      `<contact>${xml(entity)}</contact>${note === '' ? '' : `<note>${xml(note)}</note>`}</tuple>`,
    ]),
    ...(activities.length === 0
      ? []
      : [
          `<dm:person id="p1"><rpid:activities>${activities.map((name) => `<rpid:${name}/>`).join('')}</rpid:activities></dm:person>`,
        ]),
    '</presence>',
    '',
  ];
  return lines.join('\r\n');
}

const CHARACTERS: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function unescaped(text: string): string {
  return text.replace(/&(lt|gt|quot|apos|amp);/g, (_, name: string) => CHARACTERS[name] ?? '');
}
