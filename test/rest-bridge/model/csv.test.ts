import { expect } from 'chai';
import type { Who } from '../support/data-node.ts';
import { describeNodes } from '../support/data-nodes.ts';

const ADMIN: Who = 'admin@demo.local';

describeNodes('REST: lists as CSV', (node) => {
  let classes = 0;

  async function list(mode: string): Promise<(query?: string) => ReturnType<ReturnType<typeof node>['as']>> {
    const classname = `csv/list${++classes}`;
    const properties = [
      { name: 'name', data_type: 'string' },
      { name: 'n', data_type: 'float' },
      { name: 'tags', data_type: 'string', multi: true },
      { name: 'extra', data_type: 'any' },
    ];
    const body = { classname, storage_mode: mode, properties };
    const made = await node().as(ADMIN, 'POST', '/domain/classes', body);
    expect(made.status, made.text).to.equal(200);
    const texts = ['plain', 'a,b', 'say "hi"', 'two\r\nlines', '=1+1', '@x', '+cmd', '-', '+49 30', '-5', ''];
    const rows = texts.map((name, index) => ({ id: `r${index + 10}`, name, n: -index / 2 }));
    const more = { id: 'r99', tags: ['a', 'b'], extra: { deep: [1] } };
    const written = await node().as(ADMIN, 'POST', `/model/${classname}`, [...rows, more]);
    expect(written.status, written.text).to.equal(200);
    return (query = '') => node().as(ADMIN, 'GET', `/model/${classname}?format=csv&order=["id"]${query}`);
  }

  for (const mode of ['category', 'ram']) {
    it(`has a header, quoted texts, JSON for the rest, and no formulas; storage_mode ${mode}`, async () => {
      const reply = await (await list(mode))();
      expect(reply.status, reply.text).to.equal(200);
      expect(reply.headers.get('content-type')).to.equal('text/csv; charset=utf-8; header=present');
      expect(reply.headers.get('content-disposition')).to.contain(`filename="csv-list${classes}.csv"`);
      expect(reply.text.split('\r\n')).to.deep.equal([
        'id,name,n,tags,extra',
        'r10,plain,0,,',
        'r11,"a,b",-0.5,,',
        'r12,"say ""hi""",-1,,',
        'r13,"two',
        'lines",-1.5,,',
        "r14,'=1+1,-2,,",
        "r15,'@x,-2.5,,",
        "r16,'+cmd,-3,,",
        "r17,'-,-3.5,,",
        'r18,+49 30,-4,,',
        'r19,-5,-4.5,,',
        'r20,,-5,,',
        'r99,,,"[""a"",""b""]","{""deep"":[1]}"',
        '',
      ]);
    });

    it(`follows mask, page, groups and counts; storage_mode ${mode}`, async () => {
      const get = await list(mode);
      expect((await get('&mask=name,id&limit=1')).text).to.equal('name,id\r\nplain,r10\r\n');
      expect((await get('&mask=extra.deep,n,id&flat=true&filter={"id":"r99"}')).text).to.equal(
        'extra.deep,n,id\r\n[1],,r99\r\n',
      );
      expect((await get('&offset=1&limit=1&mask=id')).text).to.equal('id\r\nr11\r\n');
      expect((await get('&limit=0')).body).to.deep.equal({ count: 12 });
      expect((await get('&filter={"id":"none"}')).text).to.equal('id,name,n,tags,extra\r\n');
      expect((await get('&filter={"id":"none"}&mask=tags,id')).text).to.equal('tags,id\r\n');
      const bad = await node().as(ADMIN, 'GET', `/model/csv/list${classes}?format=xml`);
      expect(bad.status, bad.text).to.equal(400);
      expect(bad.body).to.have.nested.property('error_details.field', 'format');
    });
  }
});
