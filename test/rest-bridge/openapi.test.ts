import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import type { OpenApiDocument } from '../../rest-bridge/openapi/document.ts';
import { DataNode } from './support/data-node.ts';

describe('REST: OpenAPI document', () => {
  let node: DataNode;
  let document: OpenApiDocument;
  before(async () => {
    node = await DataNode.start();
    document = (await node.call('GET', '/rest/v1/openapi.json')).body as OpenApiDocument;
  });
  after(() => node.close());

  const operations = (): (readonly [method: string, path: string])[] =>
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => [method.toUpperCase(), path] as const),
    );

  it('is a valid OpenAPI 3.1 document, with classes and without', async () => {
    const classes = [
      {
        classname: 'crm/customers',
        storage_mode: 'category',
        properties: [
          { name: 'vip', data_type: 'boolean' },
          { name: 'contract', data_type: 'attachment' },
          { name: 'photos', data_type: 'attachment', multi: true },
        ],
      },
      {
        classname: 'crm/visits',
        storage_mode: 'history',
        opts: { partition_property: 'ts' },
        properties: [{ name: 'ts', data_type: 'long', required: true }],
      },
    ];
    for (const body of classes) {
      const made = await node.as('admin@demo.local', 'POST', '/domain/classes', body);
      expect(made.status, made.text).to.equal(200);
    }
    const own = (await node.as('admin@demo.local', 'GET', '/openapi.json')).body as OpenApiDocument;
    for (const each of [document, own]) {
      const { valid, errors } = await new Validator().validate(structuredClone(each));
      expect(valid, JSON.stringify(errors)).to.equal(true);
    }
    expect(Object.keys(own.paths)).to.include.members([
      '/model/crm/customers',
      '/model/crm/customers!lookup',
      '/model/crm/customers/{id}',
      '/model/crm/visits/{date}/{id}',
      '/model/crm/customers/{id}/contract',
      '/model/crm/customers/{id}/contract!metadata',
      '/model/crm/customers/{id}/photos',
      '/model/crm/customers/{id}/photos/{name}',
    ]);
    const customers = JSON.stringify(own.paths['/model/crm/customers']);
    expect(customers).to.include('"vip":{"anyOf":[{"type":"boolean"},{"type":"null"}]}');
    expect(Object.keys(document.paths)).not.to.include('/model/crm/customers');
    const foreign = (await node.as('eve@other.local', 'GET', '/openapi.json')).body as OpenApiDocument;
    expect(Object.keys(foreign.paths)).not.to.include('/model/crm/customers');
    // Who may not read a class is not told of its fields.
    const alice = (await node.as('alice@demo.local', 'GET', '/openapi.json')).body as OpenApiDocument;
    expect(alice.paths).to.deep.equal(document.paths);
  });

  it('has only valid schemas, and a unique id for each operation', () => {
    const ids = Object.values(document.paths).flatMap((item) =>
      Object.values(item).map((operation) => operation['operationId']),
    );
    expect(new Set(ids).size).to.equal(ids.length);
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, 'document');
    const visit = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      if ('schema' in value) {
        const text = JSON.stringify(value.schema).replaceAll('#/components', 'document#/components');
        ajv.compile(JSON.parse(text) as object);
      }
      for (const each of Object.values(value)) visit(each);
    };
    visit(document.paths);
  });

  it('names every route, and no other', async () => {
    const listed = operations().map(([method, path]) => `${method} ${path}`);
    const collections = [
      'domains',
      'sipusers',
      'providers',
      'featurecodes',
      'routes',
      'settings',
      'webapps',
      'classes',
    ];
    expect(listed).to.include.members([
      'POST /iam/sessions',
      'PATCH /iam/sessions/current',
      'GET /iam/users/{id}/sessions',
      'PUT /user/avatar',
      'GET /api/events',
      'POST /api/hooks/{code}',
      'POST /uc/calls!lookup',
      'GET /uc/calls/{id}',
      'GET /uc/conferences',
      'POST /iam/users!lookup',
      'GET /model/{class_path}',
      'PATCH /model/{class_path}',
      ...collections.flatMap((name) => [
        `GET /domain/${name}`,
        `POST /domain/${name}`,
        `POST /domain/${name}!lookup`,
        `GET /domain/${name}/{id}`,
        `PATCH /domain/${name}/{id}`,
        `DELETE /domain/${name}/{id}`,
      ]),
    ]);
    for (const [method, path] of operations()) {
      // Ends the session, or stays open.
      if (path === '/iam/sessions/current' || path === '/api/events') continue;
      const target = path.replaceAll(/\{[^}]+\}/g, '1');
      const reply = await node.as('admin@demo.local', method, target, method === 'GET' ? undefined : {});
      const { error_code: code } = (reply.body ?? {}) as { error_code?: number };
      expect([404, 405].includes(reply.status) && code !== 1404 && code !== 1413, `${method} ${path}`).to.equal(false);
    }
  });

  it('describes every form of answer of lists of classes', async () => {
    const admin = (path: string) => node.as('admin@demo.local', 'GET', path);
    const properties = [
      { name: 'ts', data_type: 'long' },
      { name: 'note', data_type: 'string' },
    ];
    await node.as('admin@demo.local', 'POST', '/domain/classes', {
      classname: 'log',
      storage_mode: 'history',
      properties,
    });
    expect((await node.as('admin@demo.local', 'POST', '/model/log', { id: 'a' })).status).to.equal(200);
    const own = (await admin('/openapi.json')).body as OpenApiDocument;
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(own, 'own');
    const ok = ajv.getSchema('own#/paths/~1model~1log/get/responses/200/content/application~1json/schema');
    for (const query of ['', 'limit=0', 'countonly=1', 'mask=note', 'export=1', 'flat=1', 'aggr={"n":["count"]}']) {
      const interval = JSON.stringify([0, Date.now() + 86_400_000]);
      const { status, body, text } = await admin(`/model/log?interval=${interval}&${query}`);
      expect(status, text).to.equal(200);
      expect(ok?.(body), `${query}: ${text}`).to.equal(true);
    }
    const one = ajv.getSchema(
      'own#/paths/~1model~1log~1{date}~1{id}/get/responses/200/content/application~1json/schema',
    );
    const day = new Date().toISOString().slice(0, 10);
    for (const query of ['', '?mask=note'])
      expect(one?.((await admin(`/model/log/${day}/a${query}`)).body)).to.equal(true);
  });

  it('shows custom methods as POST with a suffix, and names the plain method', () => {
    const lookup = document.paths['/domain/sipusers!lookup']?.['post'];
    expect(lookup?.['description']).to.include('LOOKUP /domain/sipusers');
  });

  it('can be browsed in a page served entirely by this server', async () => {
    const page = await node.call('GET', '/rest/v1/docs');
    expect(page.status).to.equal(200);
    expect(page.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    expect(page.text).not.to.match(/https?:\/\//);
    const parts = [...page.text.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, part]) => part);
    expect(parts).to.have.length(3);
    // With a slash at the end the parts would be elsewhere: the page is where it always is.
    const slash = await node.call('GET', '/rest/v1/docs/');
    expect([slash.status, slash.text]).to.deep.equal([200, page.text]);
    for (const part of parts) expect((await node.call('GET', `/rest/v1/${part}`)).status, part).to.equal(200);
    for (const other of ['package.json', '..%2Fpackage.json', 'swagger-ui.js', '__proto__'])
      expect((await node.call('GET', `/rest/v1/docs/${other}`)).status, other).to.equal(404);
  });
});
