import { Ajv, type ValidateFunction } from 'ajv';
import specs from '@asyncapi/specs';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { eventually } from '../support/eventually.ts';
import { CALLS, useStage } from '../support/stage.ts';

type Frame = readonly [method: string, parameters: Readonly<Record<string, unknown>>];

interface Document {
  readonly components: { readonly messages: Readonly<Record<string, unknown>> };
}

describe('events and frames of the WebSocket', () => {
  const stage = useStage();
  let document: Document;
  let ajv: Ajv;
  let socket: WebSocket | undefined;
  before(async () => {
    const answer = await (await stage.rest()).get('/rest/v1/asyncapi.json');
    expect(answer.status).to.equal(200);
    document = answer.json<Document>();
    ajv = new Ajv({ strict: false, allErrors: true });
    ajv.addSchema(document, 'doc');
  });
  afterEach(() => socket?.close());

  const messageSchema = (name: string): ValidateFunction => {
    const schema = ajv.getSchema(`doc#/components/messages/${name}/payload`);
    if (schema === undefined) throw new Error(`the document has no message ${name}`);
    return schema;
  };

  it('are described by a valid AsyncAPI 3 document', () => {
    // The schema of the specification needs no format to be right in its structure.
    const check = new Ajv({ strict: false, validateFormats: false }).compile(specs.schemasWithoutId['3.0.0'] as object);
    expect(check(document), JSON.stringify(check.errors?.slice(0, 3))).to.equal(true);
    for (const name of Object.keys(document.components.messages)) messageSchema(name);
  });

  it('have the shapes of the AsyncAPI document and of the JSON Schemas', async function () {
    this.timeout(60_000);
    const rest = await stage.rest();
    const frames: Frame[] = [];
    socket = new WebSocket(`${stage.node.base.replace('http', 'ws')}/ws`, { headers: rest.authorization });
    socket.on('message', (text: Buffer) => frames.push(JSON.parse(text.toString()) as Frame));
    await new Promise((resolve) => socket?.once('open', resolve));
    const ask = (...frame: Frame): void => socket?.send(JSON.stringify(frame));
    ask('subscribe', { qid: 1, id: 'all', expires: 60 });
    ask('subscribe', { qid: 2, events: 'none' });
    ask('subscribe', { qid: 3, id: 'all', expires: 0 });
    ask('subscribe', { qid: 4, id: 'all' });
    ask('ping', { qid: 5 });
    ask('rest', { qid: 6, method: 'GET', path: '/uc/calls' });
    await eventually(async () => expect(frames.length).to.equal(6), 20_000);

    const properties = [{ name: 'n', data_type: 'integer' }];
    const shaped = { classname: 'shapes', storage_mode: 'category', properties };
    expect((await rest.send('POST', '/rest/v1/domain/classes', { body: shaped })).status).to.equal(200);
    await rest.send('POST', '/rest/v1/model/shapes', { body: { id: 'a', n: 1 } });
    await rest.send('CLEAR', '/rest/v1/model/shapes');
    const [alice, bob, carol] = await stage.phones('alice', 'bob', 'carol');
    await alice.message('102', 'hello');
    const { outgoing } = await stage.connect(alice, bob, '102');
    const { dialogid } = await stage.dialog();
    const recorded = { command: 'add', layer: 'shape' };
    const recording = await rest.send('SETUP_RECORD', `${CALLS}/${dialogid}`, { body: recorded });
    expect(recording.status, recording.text).to.equal(200);
    await outgoing.hold();
    await outgoing.unhold();
    const body = { by: '<sip:alice@demo.local>', referto: '103', response_mode: 4 };
    const referred = rest.send('REFER', `${CALLS}/${dialogid}`, { body });
    await (await carol.incoming()).answer();
    const { new_dialogid: last = '' } = (await referred).json<{ new_dialogid?: string }>();
    await rest.send('DELETE', `${CALLS}/${last}`);
    const seen = () =>
      new Set(frames.map(([method, { class: of, type }]) => (method === 'event' ? `${of}.${type}` : method)));
    const room = await alice.call('*7094');
    await room.answered();
    await eventually(async () => expect([...seen()]).to.include('confevents.conf_join'), 20_000);
    await room.hangup();
    await eventually(
      async () =>
        expect([...seen()]).to.include.members([
          ...[
            'call_init',
            'call_ringing',
            'call_answered',
            'call_hold',
            'call_unhold',
            'call_transfer',
            'call_end',
          ].map((type) => `callevents.${type}`),
          'callevents.operation_finished',
          'callevents.record_saved',
          'messageevents.received',
          ...['conf_start', 'conf_join', 'conf_state', 'conf_leave', 'conf_end'].map((type) => `confevents.${type}`),
          'modelevents.data_changed',
          'subscribe_result',
          'ping_result',
          'rest_result',
        ]),
      20_000,
    );
    const schemas = (await rest.get('/rest/v1/event-schemas.json')).json<{ event: string; schema: object }[]>();
    const data = new Ajv({ strict: false, allErrors: true });
    for (const { event, schema } of schemas) {
      const { $schema: dialect, ...own } = schema as { $schema: string };
      expect(dialect).to.equal('https://json-schema.org/draft/2020-12/schema');
      data.addSchema(own, event);
    }
    for (const frame of frames) {
      const [method, parameters] = frame;
      const name = method === 'event' ? `${String(parameters['class'])}.${String(parameters['type'])}` : method;
      const check = messageSchema(name);
      expect(check(frame), `${JSON.stringify(frame)}: ${ajv.errorsText(check.errors)}`).to.equal(true);
      if (method === 'event') expect(data.validate(name, parameters['data']), JSON.stringify(frame)).to.equal(true);
    }
  });
});
