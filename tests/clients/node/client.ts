// SPDX-License-Identifier: Apache-2.0
// client.ts URL KEY - a shop through openapi-fetch, typed by what openapi-typescript has made of
// /openapi.json.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema";

const [url, key] = process.argv.slice(2) as [string, string];
const stranger = createClient<paths>({ baseUrl: url });
const seller = createClient<paths>({ baseUrl: url, headers: { authorization: `Bearer ${key}` } });
const json = { headers: { "content-type": "application/json" } };

function check(good: unknown, what: unknown): asserts good {
  if (!good) throw new Error(JSON.stringify(what));
}

async function main() {
  const empty = await stranger.POST("/torg.v1.SearchService/SearchOffers", { ...json, body: { text: "zebra" } });
  check(empty.data, empty.error);
  const total: string = empty.data.total; // always there, by its type
  const offers: components["schemas"]["torg.v1.FoundOffer"][] = empty.data.offers;
  check(total === "0" && offers.length === 0, empty.data);
  const content = { category: "books", title: "Another book", price: { amount: "500", currency: "USD" } };
  const made = await seller.POST("/torg.v1.OfferService/CreateOffer", { ...json, body: { content } });
  check(made.data?.revision === "1", made.error);
  const wait = [made.data.freshnessToken ?? ""];
  const found = await stranger.POST("/torg.v1.SearchService/SearchOffers", { ...json, body: { text: "another", wait } });
  check(found.data?.offers[0]?.id === made.data.id, found.data);
  const refused = await seller.POST("/torg.v1.OfferService/CreateOffer", { ...json, body: { content: { ...content, title: "x" } } });
  check(refused.error?.code === "invalid_argument", refused);
  check(refused.error.details?.[0]?.debug?.fieldViolations?.[0]?.field === "content.title", refused.error);
  const progress = await seller.GET("/v1/freshness/{token}", { params: { path: { token: wait[0]! } } });
  check(progress.data, progress.error);
  console.log("all went well");
}

main().catch((error) => { console.error(error); process.exit(1); });
