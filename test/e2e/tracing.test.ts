import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { TestNode } from '../support/node.ts';
import { CALLS, useStage } from '../support/stage.ts';

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

interface Export {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
}

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

describe('traces of OpenTelemetry', () => {
  const spans: Span[] = [];
  const asked: IncomingMessage[] = [];
  let collector: Server;
  let shop: Server;

  before(async () => {
    collector = createServer((request, response) => {
      void json(request).then((body) => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- OTLP over HTTP with JSON
        for (const { scopeSpans } of (body as Export).resourceSpans)
          for (const each of scopeSpans) spans.push(...each.spans);
        response.setHeader('content-type', 'application/json').end('{}');
      });
    }).listen(0, '127.0.0.1');
    shop = createServer((request, response) => {
      asked.push(request);
      response.end('fine');
    }).listen(0, '127.0.0.1');
    await Promise.all([once(collector, 'listening'), once(shop, 'listening')]);
  });
  after(() => {
    for (const server of [collector, shop]) {
      server.closeAllConnections();
      server.close();
    }
  });

  const portOf = (server: Server): number => (server.address() as AddressInfo).port;
  const stage = useStage({
    env: async () => ({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${portOf(collector)}`,
      OTEL_BSP_SCHEDULE_DELAY: '200',
      RINGMASTER_SCENARIO_HOSTS: '127.0.0.1',
      RINGMASTER_SCENARIO_NETWORKS: '127.0.0.1',
    }),
  });

  /** The names from a span up to the one whose parent is not of this node. */
  const chain = (span: Span): string[] => {
    const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
    return [span.name, ...(parent === undefined ? [] : chain(parent))];
  };

  const found = async (name: string): Promise<Span> => {
    let span: Span | undefined;
    await eventually(async () => {
      span = spans.find((each) => each.name === name && each.traceId === TRACE);
      expect(span, `${name} in ${spans.map((each) => each.name).join(', ')}`).to.not.equal(undefined);
    });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was found
    return span as Span;
  };

  async function scenario(id: string, content: string): Promise<void> {
    const folder = join(stage.node.dataDir, 'scenarios');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, id), content);
  }

  it('lead from a REST request through operation, scenario and call to the HTTP request of a scenario', async () => {
    const url = `http://127.0.0.1:${portOf(shop)}/stock`;
    await scenario(
      'stock.yaml',
      `id: stock\nstart: pick_up\nblocks:\n  pick_up:\n    answer:\n    next: ask\n  ask:\n    http: ${url}\n    next: end\n`,
    );
    const [alice] = await stage.phones('alice');
    const rest = await stage.rest();
    const calling = rest.send('POST', CALLS, {
      body: { from: '101', to: '*55stock', response_mode: 4 },
      headers: { traceparent: `00-${TRACE}-${PARENT}-01` },
    });
    const incoming = await alice.incoming();
    await incoming.answer();
    expect((await calling).json()).to.include({ result: 'ok' });
    await incoming.ended();

    const request = await found('HTTP GET');
    expect(chain(request).slice(0, 3)).to.deep.equal(['HTTP GET', 'block ask', 'scenario stock']);
    expect(chain(request).slice(-4)).to.deep.equal([
      'block transfer_x',
      'scenario invite',
      'operation invite',
      'POST /uc/calls',
    ]);
    expect(asked[0]?.headers['traceparent']).to.equal(`00-${TRACE}-${request.spanId}-01`);
    expect(chain(await found('INVITE')).slice(-3)).to.deep.equal([
      'scenario invite',
      'operation invite',
      'POST /uc/calls',
    ]);
    expect((await found('POST /uc/calls')).parentSpanId).to.equal(PARENT);
    // Secrets may be in paths and queries.
    expect(JSON.stringify(spans)).to.not.contain('/stock');
    const lines = stage.node.output.split('\n').filter((line) => line.includes(`"trace_id":"${TRACE}"`));
    expect(lines.filter((line) => line.includes('"scenario":"stock"'))).to.not.have.length(0);
  });

  it('begin with a call from a phone, and have the functions of modules', async () => {
    const url = `http://127.0.0.1:${portOf(shop)}/module`;
    await scenario(
      'asking.js',
      `export default async function (call) {\n  await call.answer();\n  await http.request({ url: '${url}' });\n  await call.hangup();\n}\n`,
    );
    const [alice] = await stage.phones('alice');
    const call = await alice.call('*55asking');
    await call.ended();
    await eventually(async () => {
      const request = spans.find(({ name, traceId }) => name === 'HTTP GET' && traceId !== TRACE);
      expect(request && chain(request)).to.deep.equal(['HTTP GET', 'block http.request', 'scenario asking', 'call']);
    });
  });
});

describe('a node whose collector does not answer', () => {
  it('says so in its log, and ends in time', async function () {
    this.timeout(60_000);
    // The discard port, where nobody listens.
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_BSP_SCHEDULE_DELAY: '100' };
    const node = await TestNode.start({ env });
    try {
      await node.login();
      await eventually(async () => expect(node.output).to.contain('traces cannot be sent'), 40_000);
    } finally {
      await node.remove();
    }
  });
});

/** Ends a process that asks for a module of OpenTelemetry. prom-client asks for the API by itself. */
const REFUSE = `import { registerHooks } from 'node:module';
registerHooks({
  resolve(specifier, context, next) {
    if (/opentelemetry.(?!api)|tracing.open/.test(specifier)) throw new Error('asked for ' + specifier);
    return next(specifier, context);
  },
});`;

describe('a node without the settings of OpenTelemetry', () => {
  const stage = useStage({ env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(REFUSE)}` } });

  it('loads no module of OpenTelemetry, and takes no part in traces', async () => {
    const rest = await stage.rest();
    const { status } = await rest.send('GET', CALLS, { headers: { traceparent: `00-${TRACE}-${PARENT}-01` } });
    expect(status).to.equal(200);
    expect(stage.node.output).to.contain('"msg":"request"').and.not.contain('trace_id');
  });
});
