// batch ADDRESS: asks a server for a batch by the client that was generated from openapi.json. The
// compiler holds each name to the document's types; what the server answers is compared here.
import assert from 'node:assert/strict';
import { client } from './made/client.gen.js';
import { answer, budget, health } from './made/sdk.gen.js';
import type { Answer, Question, Refused } from './made/types.gen.js';

client.setConfig({ baseUrl: `http://${process.argv[2]}` });
const key = (n: number) => n.toString(16).padStart(32, '0');
const requests: Question[] = [
  { request_id: 'one', replay_key: key(1), votes: [1, 1, 1, 1, 1, 1, 1, 0, 0, 0, '1'] },
  { request_id: 'two', replay_key: key(2), counts: [3, 8] },
  { request_id: 'wrong', replay_key: key(3), counts: [3, 9] },
];
const refused = (one: Answer | Refused): one is Refused => 'error' in one;

const asked = await answer({ body: { requests } });
assert.ok(asked.data && 'answers' in asked.data, JSON.stringify(asked.error));
const [one, two, wrong] = asked.data.answers;
for (const [i, a] of [one, two].entries()) {
  assert.ok(!refused(a), JSON.stringify(a));
  assert.equal(a.request_id, requests[i].request_id);
  assert.ok(a.class === 0 || a.class === 1);
  assert.equal(a.promise.epsilon, 0.5);
  assert.equal(a.remaining?.epsilon, 9);
}
assert.ok(refused(wrong) && wrong.request_id === 'wrong' && wrong.error.kind === 'invalid', JSON.stringify(wrong));

const again = await answer({ body: { requests: requests.slice(0, 1) } });
assert.ok(again.data && 'answers' in again.data && !refused(again.data.answers[0]) && again.data.answers[0].replayed);

const none = await answer({ body: { requests: [] } });
assert.equal(none.response.status, 400);
assert.ok(none.error && none.error.error.kind === 'invalid');

const left = await budget();
assert.equal(left.data?.usable?.epsilon, 9);
assert.equal((await health()).data?.status, 'ok');
console.log('a generated client asked for a batch of three: two answers and a refusal');
