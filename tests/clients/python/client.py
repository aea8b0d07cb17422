# SPDX-License-Identifier: Apache-2.0
"""client.py URL KEY - a shop through the client that openapi-python-client has made of /openapi.json
(package torg_client)."""
import sys

from torg_client import AuthenticatedClient, Client
from torg_client.api.torg_v_1_offer_service import (torg_v_1_offer_service_create_offer as create,
                                                    torg_v_1_offer_service_get_offer as get)
from torg_client.api.torg_v_1_search_service import torg_v_1_search_service_search_offers as search
from torg_client.api.torg_v_1_system_service import torg_v_1_system_service_get_system as system
from torg_client.models import (Error, TorgV1CreateOfferRequest, TorgV1GetOfferRequest,
                                TorgV1GetSystemRequest, TorgV1Price, TorgV1OfferContent,
                                TorgV1SearchOffersRequest)

url, key = sys.argv[1:]
stranger, seller = Client(base_url=url), AuthenticatedClient(base_url=url, token=key)



def searched(**request):
    """A busy machine may be late: then it is asked again."""
    while True:
        found = search.sync(client=stranger, body=TorgV1SearchOffersRequest(**request))
        if not isinstance(found, Error) or found.code not in ("unavailable", "deadline_exceeded"):
            return found


assert system.sync(client=stranger, body=TorgV1GetSystemRequest()).version
empty = searched(text="zebra")
assert (empty.total, empty.offers) == ("0", []), empty
book = TorgV1OfferContent(category="books", title="A book",
                          price=TorgV1Price(amount="500", currency="USD"))
made = create.sync(client=seller, body=TorgV1CreateOfferRequest(content=book))
assert made.revision == "1", made
found = searched(text="book", wait=[made.freshness_token])
assert [each.id for each in found.offers] == [made.id], found
assert get.sync(client=stranger, body=TorgV1GetOfferRequest(id=made.id)).content.title == "A book"
book.title = "x"
refused = create.sync(client=seller, body=TorgV1CreateOfferRequest(content=book))
assert isinstance(refused, Error) and refused.code == "invalid_argument", refused
fields = [each.field for each in refused.details[0].debug.field_violations]
assert fields == ["content.title"], fields
print("all went well")
