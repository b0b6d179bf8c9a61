"""The HTTP API: the routes, the door in front of them, and the two probes."""

from fastapi import FastAPI, Response

from ias.domain.messages import JsonObject
from ias.web import approvals, messages, tools, usage
from ias.web.auth import Door
from ias.web.problems import add_handlers
from ias.web.services import Health, Services

LOCAL_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})


def create_app(services: Services, *, host: str, version: str) -> FastAPI:
    """Make the API over the daemon's parts.

    Args:
        services: What routes may use.
        host: The address it is served on, beside the loopback names, as clients write it in `Host`.
        version: The product's version, for the OpenAPI document.
    """
    app = FastAPI(title="ias", version=version, docs_url=None, redoc_url=None)
    app.state.services = services
    add_handlers(app)
    for module in (messages, approvals, tools, usage):
        app.include_router(module.router)
    _add_probes(app, services.health)

    @app.post("/api/poke", status_code=204, tags=["daemon"])
    async def poke() -> Response:
        """Look at the store again: another process wrote to it."""
        services.poke()
        return Response(status_code=204)

    app.add_middleware(Door, token=services.token, hosts=LOCAL_NAMES | {host})
    return app


def _add_probes(app: FastAPI, health: Health) -> None:
    @app.get("/healthz", tags=["daemon"], response_model=None)
    async def healthz() -> JsonObject:
        """Say that the process answers."""
        return {"status": "draining" if health.is_draining else "ok"}

    @app.get("/readyz", tags=["daemon"], response_model=None)
    async def readyz(response: Response) -> JsonObject:
        """Say whether messages are taken and worked on."""
        is_ready = health.is_ready and not health.is_draining
        response.status_code = 200 if is_ready else 503
        return {"ready": is_ready, **health.facts}
