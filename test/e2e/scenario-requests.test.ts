import { writeFile } from 'node:fs/promises';
import { type IncomingHttpHeaders, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { runsOf } from '../support/runs.ts';
import { useStage } from '../support/stage.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SECRET = 'Zb7-s3cret';

interface Asked {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

describe('HTTP requests of scenarios', () => {
  const folder = temporaryFolder();
  const asked: Asked[] = [];
  let server: Server;
  let port: number;

  const stage = useStage({
    env: async () => {
      await writeFile(join(folder, 'secrets.json'), JSON.stringify({ 'demo.local': { crm: SECRET } }));
      return {
        RINGMASTER_SCENARIO_HOSTS: '127.0.0.1,localhost,127.0.0.2',
        RINGMASTER_SCENARIO_NETWORKS: '127.0.0.1',
        RINGMASTER_SECRETS_FILE: join(folder, 'secrets.json'),
      };
    },
  });

  before('a server that repeats what it is told', async () => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const { url = '', headers } = request;
        asked.push({ url, headers, body });
        if (url.startsWith('/away')) return response.writeHead(302, { location: `http://127.0.0.2:${port}/` }).end();
        response.writeHead(url.startsWith('/hook') ? 500 : 200, { 'content-type': 'application/json', 'x-said': url });
        return response.end(JSON.stringify({ url, headers }));
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    ({ port } = server.address() as AddressInfo);
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it('reach hosts in the allowed networks, and show no secret', async () => {
    const rest = await stage.rest();
    const source = `export default async function (call, args) {
      const codeOf = (url) => http.request(url).then(({ status }) => status, ({ code, message }) => code + ' ' + message);
      const headers = { 'x-key': 'Bearer ' + secrets.crm };
      const answer = await http.request({ url: args.base + '/?key=' + secrets.crm, headers });
      await http.webhook({ url: args.base + '/hook/' + secrets.crm, event: 'told' });
      log(JSON.stringify(answer));
      const codes = [];
      for (const url of [args.base + '/away', 'http://127.0.0.2/', 'http://' + secrets.crm + '.example/'])
        codes.push(await codeOf(url));
      return { answer, codes };
    }`;
    await rest.send('POST', '/rest/v1/domain/svcscripts', {
      body: { code: 'requests', scriptdata: { format: 'js', source } },
    });
    const base = `http://127.0.0.1:${port}`;
    const answer = await rest.send('POST', '/rest/v1/api/hooks/requests', { body: { base } });
    expect(answer.status, answer.text).to.equal(200);
    const { codes } = answer.json<{ codes: string[] }>();
    expect(codes.map((code) => code.split(' ')[0])).to.deep.equal(Array(3).fill('http_forbidden'));
    expect(asked[0]).to.include({ url: `/?key=${SECRET}` });
    expect(asked[0]?.headers['x-key']).to.equal(`Bearer ${SECRET}`);
    const told = asked.find(({ url }) => url === `/hook/${SECRET}`);
    expect(JSON.parse(told?.body ?? '')).to.include({ event: 'told', scenario: 'requests', domain: 'demo.local' });
    const runs = JSON.stringify(await runsOf(rest, 'requests'));
    expect(runs).to.include('{{secret:crm:');
    for (const text of [answer.text, runs, stage.node.output]) expect(text).not.to.match(new RegExp(SECRET, 'i'));
  });

  it('name a missing secret, and who can set it', async () => {
    const rest = await stage.rest();
    for (const [code, expression] of [
      ['dotted', 'secrets.crn'],
      ['quoted', "has(secrets.crn) ? '' : secrets['crn']"],
    ] as const) {
      const source = `start: a
blocks:
  a: { log: "key \${${expression}}", next: end }
`;
      await rest.send('POST', '/rest/v1/domain/svcscripts', {
        body: { code, scriptdata: { format: 'yaml', source } },
      });
      const answer = await rest.send('POST', `/rest/v1/api/hooks/${code}`, { body: {} });
      expect(answer.json()).to.have.nested.property(
        'error_details.reason',
        `\${${expression}}: there is no secret "crn" in this domain: the operator adds it to secrets.json, or the file that RINGMASTER_SECRETS_FILE names`,
      );
      expect(answer.text).not.to.include(SECRET);
    }
    const module =
      "export default async () => { await http.webhook({ url: 'http://127.0.0.1:9/' + secrets.crn, event: 'told' }); };";
    await rest.send('POST', '/rest/v1/domain/svcscripts', {
      body: { code: 'written', scriptdata: { format: 'js', source: module } },
    });
    const answer = await rest.send('POST', '/rest/v1/api/hooks/written', { body: {} });
    expect(answer.json())
      .to.have.nested.property('error_details.reason')
      .that.includes('there is no secret "crn" in this domain');
    expect(answer.text).not.to.include(SECRET);
  });
});
