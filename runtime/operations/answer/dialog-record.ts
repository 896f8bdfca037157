import { Type } from 'typebox';

const Leg = Type.Object({
  callid: Type.String({ description: 'Call-ID of the leg.' }),
  expirets: Type.Union([Type.Integer(), Type.Literal('undefined')], {
    description: "When the called party's time is up, milliseconds since the epoch; `undefined` of the caller.",
  }),
  localuri: Type.String(),
  remoteuri: Type.String(),
  side: Type.Enum(['a', 'b'], { description: '`a`: the caller, `b`: a called party.' }),
});

/** An active call as REST callers and scenarios read it (specification, "Dialog (active call)"). */
export const DialogRecord = Type.Object({
  acallid: Type.String({ description: 'Call-ID of the initiating side.' }),
  callids: Type.Array(Type.String(), { description: 'Call-IDs of all legs.' }),
  dialogid: Type.String({ description: 'Id of the dialog.' }),
  esgdlg: Type.String({ description: 'Id of the external dialog; empty unless an outside caller began the call.' }),
  esgcallid: Type.String({ description: 'Call-ID of the external party, under the same condition.' }),
  inviteid: Type.String({ description: 'Id of the call that led to the dialog, as in its events.' }),
  status: Type.Enum(['forking', 'dialog'], { description: '`forking`: it rings; `dialog`: somebody has answered.' }),
  legs: Type.Array(Leg, { description: 'The caller first.' }),
  localuri: Type.String({ description: 'URI of the To header of the initiating INVITE.' }),
  remoteuri: Type.String({ description: 'URI of its From header.' }),
  site: Type.String({ description: 'Site that serves it.' }),
  startts: Type.Integer({ description: 'Since when, milliseconds since the epoch.' }),
  uris: Type.Array(Type.String(), { description: 'URIs of every party; a sipuser has two, by login and by number.' }),
  opts: Type.Object(
    { 'referred-by': Type.Optional(Type.String()), replaces: Type.Optional(Type.String()) },
    { description: 'Headers Referred-By and Replaces of the initiating INVITE, where it had them.' },
  ),
});
