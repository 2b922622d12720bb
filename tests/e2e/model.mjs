// A chat model that says what a check wants.
import { createServer } from "node:http";

/**
 * A chat model on loopback. `say` makes its words of the user's message; they come a few characters at a time, `pace`
 * milliseconds apart, and before the end it waits for `held`.
 */
export async function scriptedModel(say) {
  const model = { pace: 1000, port: 0, held: Promise.resolve(), close: () => undefined };
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => (body += part));
    request.on("end", async () => {
      const words = body.includes("single word: ready") ? "ready" : say(JSON.parse(body).messages.at(-1).content);
      response.writeHead(200, { "content-type": "text/event-stream" });
      const send = (delta, finish_reason = null) => response.write(`data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "scripted-1", choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
      for (const piece of words.match(/.{1,2}/gsu)) {
        send({ content: piece });
        await new Promise((resolve) => setTimeout(resolve, model.pace));
      }
      await model.held;
      send({}, "stop");
      response.end("data: [DONE]\n\n");
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  model.port = server.address().port;
  model.close = () => server.close();
  return model;
}
