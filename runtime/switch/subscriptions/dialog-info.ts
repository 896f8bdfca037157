/** Documents of the event package `dialog` (RFC 4235): the calls of a sipuser, for busy lamps and pickup. */
import type { DialogTags } from '../../signalling/index.ts';

/** A call as the watched phone has it. */
export interface WatchedCall {
  readonly callid: string;
  /** Tags of its SIP dialogs, as this side has them; empty for a caller who is not answered yet. */
  readonly tags: readonly DialogTags[];
  /** True: the watched phone called. */
  readonly initiator: boolean;
  readonly state: 'early' | 'confirmed';
  /** The watched phone holds the call. */
  readonly held: boolean;
  readonly remote: { readonly uri: string; readonly name: string | undefined };
}

export const DIALOG_INFO = 'application/dialog-info+xml';

/**
 * The document with all calls of the watched phone.
 * @param entity its URI
 */
export function dialogInfo(entity: string, version: number, calls: readonly WatchedCall[]): string {
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<dialog-info xmlns="urn:ietf:params:xml:ns:dialog-info" version="${version}" state="full" entity="${xml(entity)}">`,
    ...calls.flatMap((call) => elementsOf(entity, call)),
    '</dialog-info>',
    '',
  ];
  return lines.join('\r\n');
}

/** One element a SIP dialog: a phone behind a forking proxy has several until it answers. */
function elementsOf(entity: string, call: WatchedCall): readonly string[] {
  const { callid, tags, initiator, state, held, remote } = call;
  const dialogs = tags.length === 0 ? [undefined] : tags;
  return dialogs.flatMap((each, at) => {
    // From the watched phone's side: what is remote here is local there.
    const names = each === undefined ? '' : ` local-tag="${xml(each.remote)}" remote-tag="${xml(each.local)}"`;
    const id = at === 0 ? callid : `${callid};${at}`;
    const direction = initiator ? 'initiator' : 'recipient';
    const display = remote.name === undefined || remote.name === '' ? '' : ` display="${xml(remote.name)}"`;
    const rendering = held ? '<param pname="+sip.rendering" pval="no"/>' : '';
    return [
      `<dialog id="${xml(id)}" call-id="${xml(callid)}"${names} direction="${direction}">`,
      `<state>${state}</state>`,
      `<local><identity>${xml(entity)}</identity><target uri="${xml(entity)}">${rendering}</target></local>`,
      `<remote><identity${display}>${xml(remote.uri)}</identity><target uri="${xml(remote.uri)}"/></remote>`,
      '</dialog>',
    ];
  });
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Text for XML 1.0, without the characters that it cannot have. */
export function xml(text: string): string {
  const legal = text.toWellFormed().replace(/[^\t\n\r\u0020-\ufffd\u{10000}-\u{10ffff}]/gu, '');
  return legal.replace(/[&<>"']/g, (c) => ENTITIES[c] ?? '');
}
